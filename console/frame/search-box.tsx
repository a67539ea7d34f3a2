import { signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { money } from '../parts/amounts.ts';
import { Dialog } from '../parts/dialog.tsx';
import { type Customer, customerName, type Invoice } from '../parts/records.ts';
import { mayOpen, ROOMS } from './rooms.ts';
import { go, searchOf, to } from './route.ts';
import { can } from './session.ts';
import { useRead } from './use-read.ts';

export const searchIsOpen = signal(false);

const TYPE_PAUSE_MS = 150;

/** Finds customers, invoices and rooms by what is typed; arrows and Enter open one. */
export function SearchBox() {
  const typed = useSignal('');
  const asked = useSignal('');
  const chosen = useSignal(0);
  const list = useRef<HTMLUListElement>(null);
  const close = () => {
    searchIsOpen.value = false;
  };
  useEffect(() => {
    const timer = setTimeout(() => {
      asked.value = typed.value.trim();
      chosen.value = 0;
    }, TYPE_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed.value]);
  const text = asked.value.slice(0, 200);
  const filters = searchOf({ search_term: text, per_page: 8 });
  const customers = useRead<{ customers: Customer[] }>(text !== '' && can('customer') ? `/customers${filters}` : null);
  const invoices = useRead<{ invoices: Invoice[] }>(text !== '' && can('invoice') ? `/invoices${filters}` : null);
  const error = customers.error ?? invoices.error;
  const words = typed.value.trim().toLowerCase();
  const rooms = ROOMS.filter((room) => mayOpen(room) && (words === '' || room.text.toLowerCase().includes(words))).map(
    (room) => ({ key: room.name, text: room.text, note: 'Room', href: to(room.name) }),
  );
  const records = [
    ...(customers.data?.customers ?? []).map((customer) => ({
      key: customer.svc_id,
      text: customerName(customer),
      note: `Customer · ${customer.external_id}`,
      href: to('customers', customer.external_id),
    })),
    ...(invoices.data?.invoices ?? []).map((invoice) => ({
      key: invoice.svc_id,
      text: invoice.number || 'Draft',
      note: `Invoice · ${customerName(invoice.customer)} · ${money(invoice.total_amount_cents, invoice.currency)}`,
      href: to('invoices', invoice.svc_id),
    })),
  ];
  const hits = [...records, ...rooms].slice(0, 40);
  const open = (href: string) => {
    close();
    go(href);
  };
  return (
    <Dialog title="Search" onClose={close}>
      <input
        type="text"
        class="search-input"
        role="combobox"
        aria-expanded="true"
        aria-controls="hits"
        aria-activedescendant={hits.length > 0 ? `hit-${chosen.value}` : undefined}
        aria-label="Name, id, email or number of an invoice"
        placeholder="Name, id, email or number of an invoice"
        value={typed.value}
        autofocus
        onInput={(event) => {
          typed.value = event.currentTarget.value;
        }}
        onKeyDown={(event) => {
          const last = hits.length - 1;
          if (event.key === 'ArrowDown') chosen.value = Math.min(last, chosen.value + 1);
          else if (event.key === 'ArrowUp') chosen.value = Math.max(0, chosen.value - 1);
          else if (event.key === 'Enter' && hits[chosen.value]) open(hits[chosen.value]!.href);
          else return;
          event.preventDefault();
          list.current?.children[chosen.value]?.scrollIntoView({ block: 'nearest' });
        }}
      />
      {error && <p class="fault">The search could not be asked.</p>}
      <ul id="hits" class="hits" role="listbox" aria-label="Found" ref={list}>
        {hits.map(({ key, text, note, href }, index) => (
          <li
            key={key}
            id={`hit-${index}`}
            role="option"
            aria-selected={index === chosen.value}
            onMouseMove={() => {
              chosen.value = index;
            }}
            onClick={() => open(href)}
          >
            <span>{text}</span>
            <span class="soft">{note}</span>
          </li>
        ))}
      </ul>
      {hits.length === 0 && <p class="soft">Nothing found for “{typed.value}”.</p>}
    </Dialog>
  );
}
