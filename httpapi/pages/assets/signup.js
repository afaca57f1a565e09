// The sign-up form of the reference of the API. Everything it asks for is of this origin.
'use strict';

const byId = (id) => document.getElementById(id);

function showFault(place, field, text) {
  place.textContent = text;
  place.hidden = !text;
  if (!field) return;
  if (text) field.setAttribute('aria-invalid', 'true');
  else field.removeAttribute('aria-invalid');
}

const fields = ['name', 'email', 'use_case'];

function clearFaults() {
  for (const name of fields) showFault(byId(name + '-fault'), byId(name), '');
  showFault(byId('form-fault'), null, '');
}

// A problem's faults stand beside their fields; what belongs to none stands above the button.
function showProblem(problem) {
  const faults = (problem.errors || []).filter((fault) => fields.includes(fault.name));
  for (const fault of faults) {
    const field = byId(fault.name);
    const label = field.labels[0].textContent.replace('?', '');
    showFault(byId(fault.name + '-fault'), field, `${label}: ${fault.detail}`);
  }
  if (faults.length === 0) showFault(byId('form-fault'), null, problem.detail);
  else byId(faults[0].name).focus();
}

function showKey(data) {
  byId('secret').textContent = data.key;
  const { limit } = data.quota;
  const { rate, per_seconds: seconds } = data.burst;
  byId('allowance').textContent = `It allows ${limit.toLocaleString('en')} calls a month, up to ${rate} per ${seconds === 1 ? 'second' : seconds + ' seconds'}.`;
  for (const code of document.querySelectorAll('.steps code')) {
    code.textContent = code.textContent.replace('Bearer $KEY', 'Bearer ' + data.key);
  }
  byId('signup').hidden = true;
  byId('issued').hidden = false;
  byId('issued').focus();
}

async function signUp(event) {
  event.preventDefault();
  clearFaults();
  const form = event.currentTarget;
  const button = form.querySelector('button');
  button.disabled = true;
  try {
    const answer = await fetch('/api/v1/keys', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(Object.fromEntries(new FormData(form))),
    });
    const body = await answer.json();
    if (answer.status === 201) showKey(body.data);
    else showProblem(body);
  } catch {
    showFault(byId('form-fault'), null, 'The service did not answer. Try again in a moment.');
  } finally {
    button.disabled = false;
  }
}

byId('signup').addEventListener('submit', signUp);
byId('signup').querySelector('button').disabled = false; // until now it would have put the fields into the address
