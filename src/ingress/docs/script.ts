/**
 * The script of the documentation, without which every page can be read: search over titles, headings and operations;
 * copying; the reader's key in what is copied, kept in the tab alone and sent nowhere; light or dark, as the console
 * keeps it.
 */
export const SCRIPT = `'use strict';
(() => {
  const make = (name, props, ...inner) => {
    const node = Object.assign(document.createElement(name), props);
    node.append(...inner);
    return node;
  };
  const keyName = 'meterstone-docs-key';
  const key = () => sessionStorage.getItem(keyName) || '';

  for (const pre of document.querySelectorAll('pre')) {
    const button = make('button', { type: 'button', className: 'copy', textContent: 'Copy' });
    button.addEventListener('click', async () => {
      const text = pre.textContent.replace(/\\n$/, '');
      try {
        await navigator.clipboard.writeText(key() ? text.replaceAll('$KEY', key()) : text);
        button.textContent = 'Copied';
      } catch {
        getSelection().selectAllChildren(pre);
        button.textContent = 'Selected';
      }
      setTimeout(() => { button.textContent = 'Copy'; }, 1500);
    });
    const wrap = make('div', { className: 'code' });
    pre.replaceWith(wrap);
    wrap.append(pre, button);
  }

  if (document.querySelector('.operation')) {
    const input = make('input', { type: 'password', id: 'key', value: key(), placeholder: 'paste it here', autocomplete: 'off' });
    input.addEventListener('input', () => sessionStorage.setItem(keyName, input.value.trim()));
    document.querySelector('h1').after(make('p', { className: 'key' },
      make('label', { htmlFor: 'key', textContent: 'Key of your sandbox' }), input,
      make('span', { textContent: 'What you copy has it for $KEY. It stays in this tab.' })));
  }

  const colours = 'meterstone-colours';
  const root = document.documentElement;
  const apply = (choice) => { if (choice === 'light' || choice === 'dark') root.dataset.theme = choice; else delete root.dataset.theme; };
  apply(localStorage.getItem(colours));
  const theme = document.getElementById('theme');
  theme.hidden = false;
  theme.addEventListener('click', () => {
    const isDark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    const choice = isDark ? 'light' : 'dark';
    localStorage.setItem(colours, choice);
    apply(choice);
  });

  const form = document.querySelector('.search');
  const box = document.getElementById('q');
  const list = document.getElementById('found');
  let entries;
  let chosen = -1;
  form.hidden = false;
  const load = () => { entries ??= fetch('/docs/search.json').then((answer) => answer.json()); return entries; };
  const score = ([title, hint], words) => {
    const t = title.toLowerCase();
    const all = t + ' ' + hint.toLowerCase();
    if (!words.every((word) => all.includes(word))) return 0;
    const points = (word) => (t === word ? 9 : t.startsWith(word) ? 5 : t.includes(word) ? 3 : 1);
    return words.reduce((sum, word) => sum + points(word), 0) + 1 / (1 + t.length);
  };
  const show = async () => {
    const words = box.value.toLowerCase().split(/\\s+/).filter(Boolean);
    const found = words.length === 0 ? [] : (await load()).map((entry) => [score(entry, words), entry])
      .filter(([points]) => points > 0).sort((a, b) => b[0] - a[0]).slice(0, 12);
    chosen = -1;
    list.replaceChildren(...found.map(([, [title, hint, to]], index) => {
      const link = make('a', { id: 'found-' + index, role: 'option', href: to, tabIndex: -1 }, title, make('small', { textContent: hint }));
      link.setAttribute('aria-selected', 'false');
      return make('li', { role: 'presentation' }, link);
    }));
    if (words.length > 0 && found.length === 0) list.replaceChildren(make('li', { role: 'option', textContent: 'Nothing found' }));
    list.hidden = words.length === 0;
    box.setAttribute('aria-expanded', String(!list.hidden));
  };
  const choose = (step) => {
    const items = [...list.querySelectorAll('a')];
    if (items.length === 0) return;
    chosen = (chosen + step + items.length) % items.length;
    items.forEach((item, index) => item.setAttribute('aria-selected', String(index === chosen)));
    items[chosen].scrollIntoView({ block: 'nearest' });
    box.setAttribute('aria-activedescendant', items[chosen].id);
  };
  const close = () => { list.hidden = true; box.setAttribute('aria-expanded', 'false'); };
  box.addEventListener('focus', load);
  box.addEventListener('input', show);
  box.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') { event.preventDefault(); choose(event.key === 'ArrowDown' ? 1 : -1); }
    else if (event.key === 'Escape') { box.value = ''; close(); }
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const link = list.querySelectorAll('a')[Math.max(0, chosen)];
    if (link) { close(); location.assign(link.href); }
  });
  document.addEventListener('click', (event) => { if (!form.contains(event.target)) close(); });
  document.addEventListener('keydown', (event) => {
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
    if (!typing && (event.key === '/' || (event.key === 'k' && (event.ctrlKey || event.metaKey)))) { event.preventDefault(); box.focus(); }
  });
})();
`;
