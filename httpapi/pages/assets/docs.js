// The reference: a form below each call that makes it, and buttons that copy the lines of the guide.
// The key is kept in this variable alone and is gone with the page.
'use strict';

let key = '';

function element(name, properties = {}, ...children) {
  const e = Object.assign(document.createElement(name), properties);
  e.append(...children);
  return e;
}

for (const pre of document.querySelectorAll('.guide pre')) {
  const box = element('div', { className: 'code' });
  pre.replaceWith(box);
  pre.tabIndex = 0;
  box.append(pre, element('button', { type: 'button', className: 'copy' }, 'Copy'));
  armCopies(box); // of app.js
}

for (const endpoint of document.querySelectorAll('.endpoint')) {
  const call = endpoint.querySelector('.code');
  const opener = element('button', { type: 'button', className: 'button quiet opener' }, 'Try it');
  opener.setAttribute('aria-label', 'Try it: ' + endpoint.dataset.method + ' ' + endpoint.dataset.address);
  opener.addEventListener('click', () => {
    const form = tryForm(endpoint);
    opener.replaceWith(form);
    (form.elements.key && !key ? form.elements.key : form.elements.address).focus();
  });
  call.after(opener);
}

function field(id, text, input) {
  input.id = id;
  return element('div', { className: 'field' }, element('label', { htmlFor: id }, text), input);
}

// tryForm is the form that makes the call of an endpoint.
function tryForm(endpoint) {
  const { method, address } = endpoint.dataset;
  const id = (name) => `try-${endpoint.id}-${name}`;
  const example = endpoint.querySelector('.code code').textContent.match(/-d '([^]*)'$/);
  const form = element('form', { className: 'try' });
  form.setAttribute('aria-label', `Try ${method} ${address}`);
  if ('key' in endpoint.dataset) {
    form.append(field(id('key'), 'Your key (not stored)', element('input', { name: 'key', type: 'password', autocomplete: 'off', spellcheck: false, value: key })));
  }
  const send = element('button', { className: 'button', type: 'submit' }, `Send ${method}`);
  form.append(element('div', { className: 'row' },
    field(id('address'), 'Address', element('input', { name: 'address', value: address, spellcheck: false, autocomplete: 'off' })),
    element('div', { className: 'field' }, send)));
  if (example) {
    form.append(field(id('body'), 'Body', element('textarea', { name: 'body', rows: 4, spellcheck: false, value: example[1] })));
  }
  const output = element('output');
  form.append(output);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (form.elements.key) key = form.elements.key.value.trim();
    send.disabled = true;
    output.replaceChildren(element('p', {}, 'Sending…'));
    output.replaceChildren(...await call(method, form.elements.address.value, form.elements.body?.value, endpoint.dataset.type));
    send.disabled = false;
  });
  return form;
}

const mostShown = 20000; // characters; more would make the page slow

// call makes a call to this origin and returns what to show of its response.
async function call(method, address, body, sent) {
  const url = new URL(address, location.origin);
  if (url.origin !== location.origin) return [element('p', { className: 'fault' }, 'The address must begin with a slash.')];
  const headers = {};
  if (key && url.pathname.startsWith('/api/')) headers.Authorization = `Bearer ${key}`;
  if (body !== undefined) headers['Content-Type'] = sent;
  try {
    const begun = performance.now();
    const answer = await fetch(url, { method, headers, body, cache: 'no-store' });
    const type = answer.headers.get('Content-Type') ?? '';
    const text = /json|text|xml|csv|svg/.test(type) ? await answer.text() : `${(await answer.blob()).size} bytes of ${type}`;
    const took = Math.round(performance.now() - begun);
    let shown = text;
    if (type.includes('json') && text.length < 40 * mostShown) try { shown = JSON.stringify(JSON.parse(text), null, 2); } catch { /* as it was sent */ }
    const rest = shown.length - mostShown;
    const names = [...answer.headers].map(([name, value]) => `${name}: ${value}`).join('\n');
    const pre = (content, label) => {
      const e = element('pre', { tabIndex: 0 }, element('code', {}, content));
      e.setAttribute('role', 'region');
      e.setAttribute('aria-label', label);
      return e;
    };
    return [
      element('p', {}, element('span', { className: answer.ok ? 'code-of' : 'code-of bad' }, `${answer.status} ${answer.statusText}`), ` in ${took} ms`),
      element('details', {}, element('summary', {}, 'Headers'), pre(names, 'Headers of the response')),
      pre(rest > 0 ? shown.slice(0, mostShown) + `\n… and ${rest} more characters` : shown, 'Body of the response'),
    ];
  } catch {
    return [element('p', { className: 'fault' }, 'The service did not answer. Try again in a moment.')];
  }
}
