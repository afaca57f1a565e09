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
for (const code of document.querySelectorAll('.cite code')) {
  code.textContent = code.textContent.replace(/(?<=accessed )\d{4}-\d\d-\d\d/, new Date().toISOString().slice(0, 10));
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
  const sheets = (page) => [...page.querySelectorAll('link[rel="stylesheet"], script[src]')].map((e) => e.getAttribute('href') ?? e.getAttribute('src')).join();
  let running;
  let shown = location.pathname + location.search;
  const area = document.getElementById('results-area');
  // show loads an address into the page. Faults of the form are shown where the results were: what is typed so far
  // may be half a name. Other failures are pages of their own.
  async function show(url, { back = false } = {}) {
    running?.abort();
    const mine = running = new AbortController();
    area.setAttribute('aria-busy', 'true');
    try {
      const answer = await fetch(url, { signal: mine.signal, headers: { Accept: 'text/html' } });
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
      const results = page.getElementById('results-area');
      if (results && sheets(page) !== sheets(document)) { // of another build of the site: its own scripts and styles fit it
        location.assign(url);
        return;
      }
      const faults = answer.status === 400 && page.querySelector('.faults');
      const left = area.contains(document.activeElement) && document.activeElement.textContent;
      if (answer.ok && results) {
        area.replaceChildren(...results.childNodes);
        document.querySelector('.foot').replaceWith(page.querySelector('.foot')); // it names the release
        refreshFilters(page, back);
        if (!back && url !== shown) history.pushState(null, '', url);
        shown = url;
      } else if (faults && !back) {
        area.replaceChildren(faults);
      } else {
        location.assign(url);
        return;
      }
      document.getElementById('results-status').textContent = (faults || area.querySelector('h2')).textContent;
      if (left !== false) landing(left).focus({ preventScroll: true });
    } catch (fault) {
      if (fault.name !== 'AbortError') location.assign(url);
    } finally {
      if (mine === running) area.removeAttribute('aria-busy');
    }
  }
  // landing is where the focus goes on from a link that was replaced: the same head of a column, else the heading.
  function landing(text) {
    const head = [...area.querySelectorAll('thead a')].find((a) => a.textContent === text);
    const heading = area.querySelector('h2') ?? area;
    heading.tabIndex = -1;
    return head ?? heading;
  }
  // The counts beside the choices follow, and choices stay open; what is being typed stays as it is,
  // except on the way back.
  function refreshFilters(page, back) {
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
    for (const input of fresh.querySelectorAll('input:not([type="checkbox"]), select')) {
      if (input.type === 'radio') {
        if (input.checked) form.querySelector(`input[name="${input.name}"][value="${CSS.escape(input.value)}"]`).checked = true;
        continue;
      }
      const mine = form.elements[input.name];
      if (mine && (back || mine !== document.activeElement)) mine.value = input.value;
    }
  }
  let timer;
  const later = (ms) => { clearTimeout(timer); timer = setTimeout(() => { if (form.checkValidity()) show(address()); }, ms); };
  form.addEventListener('change', () => later(0));
  form.addEventListener('input', (event) => { if (event.target.type !== 'checkbox' && event.target.tagName !== 'SELECT') later(350); });
  form.addEventListener('submit', (event) => { event.preventDefault(); later(0); });
  document.addEventListener('click', (event) => {
    const link = event.target.closest('#results-area thead a, #results-area .chosen a, #results-area .pager a');
    if (!link || event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    show(link.getAttribute('href')).then(() => { if (link.closest('.pager')) area.scrollIntoView(); });
  });
  // What was chosen before this script came is not in the list yet.
  const changed = (field) => {
    if (field.tagName === 'SELECT') return !field.selectedOptions[0].defaultSelected;
    return field.type === 'checkbox' || field.type === 'radio' ? field.checked !== field.defaultChecked : field.value !== field.defaultValue;
  };
  if ([...form.querySelectorAll('input[name], select[name]')].some(changed)) later(0);
  addEventListener('popstate', () => {
    clearTimeout(timer);
    const url = location.pathname + location.search;
    if (url !== shown) show(url, { back: true }); // not for a jump within the page
  });
}
