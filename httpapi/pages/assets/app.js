// What makes pages quicker: lists that filter without a reload, buttons that copy. Everything works
// without it. It asks this origin only.
'use strict';

async function copy(button) {
  const code = button.parentElement.querySelector('code');
  try {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = 'Copied';
  } catch { // no clipboard without https: select, so that one keystroke copies
    getSelection().selectAllChildren(code);
    button.textContent = 'Selected';
  }
  setTimeout(() => { button.textContent = 'Copy'; }, 1500);
}

function armCopies(root) {
  for (const button of root.querySelectorAll('.copy')) {
    button.hidden = false;
    button.addEventListener('click', () => copy(button));
  }
}
armCopies(document);

// Citations name the day they were copied on.
const today = new Date().toISOString().slice(0, 10);
for (const cite of document.querySelectorAll('.cite')) {
  const day = cite.querySelector('p code');
  const parts = (date) => date.split('-').map(Number);
  for (const code of cite.querySelectorAll('pre code')) {
    code.textContent = code.textContent
      .replace(`accessed ${day.textContent}`, `accessed ${today}`)
      .replace(`urldate = {${day.textContent}}`, `urldate = {${today}}`);
    if (code.textContent.startsWith('[')) {
      const entries = JSON.parse(code.textContent);
      entries[0].accessed = { 'date-parts': [parts(today)] };
      code.textContent = JSON.stringify(entries, null, 2);
    }
  }
  cite.querySelector('p').hidden = true;
}

// Lists: a change of a filter loads the results of the new address into the page.
const form = document.querySelector('form[data-live]');
if (form) live(form);

function live(form) {
  const address = () => {
    const query = new URLSearchParams();
    for (const [name, value] of new FormData(form)) {
      if (value === '') continue;
      if (name === 'sort' && value === form.elements.sort.options[0].value) continue;
      if (query.has(name)) query.set(name, query.get(name) + ',' + value);
      else query.set(name, value);
    }
    const text = query.toString().replaceAll('%2C', ',');
    return form.getAttribute('action') + (text && '?' + text);
  };
  let running;
  async function show(url, remember) {
    running?.abort();
    running = new AbortController();
    const area = document.getElementById('results-area');
    area.setAttribute('aria-busy', 'true');
    try {
      const answer = await fetch(url, { signal: running.signal, headers: { Accept: 'text/html' } });
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
      const results = page.getElementById('results-area');
      if (!answer.ok || !results) { location.assign(url); return; }
      area.replaceChildren(...results.childNodes);
      refreshFilters(page);
      if (remember) history.pushState(null, '', url);
    } catch (fault) {
      if (fault.name === 'AbortError') return;
      location.assign(url);
      return;
    }
    area.removeAttribute('aria-busy');
  }
  // The counts beside the choices follow, and choices stay open; what is being typed stays as it is.
  function refreshFilters(page) {
    const fresh = page.querySelector('form[data-live]');
    const facets = form.querySelectorAll('.facet');
    const others = new Map([...fresh.querySelectorAll('.facet')].map((f) => [f.querySelector('summary').textContent, f]));
    for (const facet of facets) {
      const other = others.get(facet.querySelector('summary').textContent);
      if (!other || facet.contains(document.activeElement) && document.activeElement.type !== 'checkbox') continue;
      const focused = facet.contains(document.activeElement) ? document.activeElement.value : null;
      const openRest = facet.querySelector('.rest[open]') !== null;
      other.open = facet.open;
      if (openRest && other.querySelector('.rest')) other.querySelector('.rest').open = true;
      facet.replaceWith(other);
      if (focused !== null) other.querySelector(`input[value="${CSS.escape(focused)}"]`)?.focus();
    }
    for (const input of fresh.querySelectorAll('input:not([type="checkbox"], [type="radio"]:not(:checked)), select')) {
      const mine = form.elements[input.name];
      if (mine && mine !== document.activeElement && mine.value !== undefined) mine.value = input.value;
    }
  }
  let timer;
  const later = (ms) => { clearTimeout(timer); timer = setTimeout(() => { if (form.checkValidity()) show(address(), true); }, ms); };
  form.addEventListener('change', () => later(0));
  form.addEventListener('input', (event) => { if (event.target.type !== 'checkbox' && event.target.tagName !== 'SELECT') later(350); });
  form.addEventListener('submit', (event) => { event.preventDefault(); later(0); });
  document.addEventListener('click', (event) => {
    const link = event.target.closest('#results-area thead a, #results-area .chosen a, #results-area .pager a');
    if (!link || event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    show(link.getAttribute('href'), true).then(() => { if (link.closest('.pager')) document.getElementById('results-area').scrollIntoView(); });
  });
  addEventListener('popstate', () => show(location.pathname + location.search, false));
}
