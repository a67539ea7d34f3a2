import { useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { copyText } from '../parts/copy.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { t } from '../texts/en.ts';
import { curlOf, requestsOfPage } from './requests.ts';
import { mayOpen, ROOMS } from './rooms.ts';
import { go, to } from './route.ts';
import { searchIsOpen } from './search-box.tsx';

const STORED = 'meterstone-shortcuts';
const SEQUENCE_MS = 1500;

/** Shortcuts of one key, which can be switched off (WCAG 2.1.4), and the window that lists them. */
export function Keyboard() {
  const isListed = useSignal(false);
  const isOn = useSignal(localStorage.getItem(STORED) !== 'off');
  useLayoutEffect(() => {
    let sinceG = 0;
    const press = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        searchIsOpen.value = true;
        return;
      }
      if (!isOn.value || event.metaKey || event.ctrlKey || event.altKey || isTyping(event)) return;
      if (document.querySelector('dialog[open]')) return;
      if (Date.now() - sinceG < SEQUENCE_MS) {
        sinceG = 0;
        const room = ROOMS.find(({ letter }) => letter === event.key);
        if (room && mayOpen(room)) go(to(room.name));
        return;
      }
      if (event.key === 'g') sinceG = Date.now();
      else if (event.key === '/') {
        event.preventDefault();
        searchIsOpen.value = true;
      } else if (event.key === '?') isListed.value = true;
      else if (event.key === 'j' || event.key === 'k') moveRow(event.key === 'j' ? 1 : -1);
      else if (event.key === 'c')
        void copyText(requestsOfPage.value.map((request) => curlOf(request, location.origin)).join('\n'));
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
  if (!isListed.value) return null;
  return (
    <Dialog
      title={t.frame.keyboard}
      onClose={() => {
        isListed.value = false;
      }}
    >
      <dl class="facts keys-list">
        {[
          [t.frame.searchKeys, t.frame.searchShortcut],
          [t.frame.rowKeys, t.frame.moveInRows],
          ['c', t.frame.copyCurlLines],
          [t.frame.closeKey, t.frame.closeShortcut],
          ...ROOMS.filter(mayOpen).map(({ letter, text }) => [`g ${letter}`, text]),
        ].map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <label class="field check">
        <span>{t.frame.singleKeyShortcuts}</span>
        <input
          type="checkbox"
          checked={isOn.value}
          onChange={(event) => {
            isOn.value = event.currentTarget.checked;
            localStorage.setItem(STORED, isOn.value ? 'on' : 'off');
          }}
        />
      </label>
    </Dialog>
  );
}

const isTyping = (event: KeyboardEvent): boolean =>
  (event.target as Element | null)?.closest?.('input, textarea, select, [contenteditable]') !== null &&
  (event.target as Element | null)?.closest !== undefined;

function moveRow(by: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>('main a[data-row]')];
  const at = rows.indexOf(document.activeElement as HTMLElement);
  rows[at === -1 ? (by > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + by))]?.focus();
}
