import { route, searchOf, to } from '../../frame/route.ts';
import { useRead } from '../../frame/use-read.ts';
import { money } from '../../parts/amounts.ts';
import { Badge } from '../../parts/badge.tsx';
import { Empty, Shown } from '../../parts/states.tsx';
import { type Column, type PageMeta, Pager, Table } from '../../parts/table.tsx';
import { When } from '../../parts/times.tsx';
import type { Payment } from '../payments/records.ts';

/** Payments of a customer with what the provider answered. */
export function Payments({ id }: { id: string }) {
  const list = useRead<{ payments: Payment[]; meta: PageMeta }>(
    `/customers/${id}/payments${searchOf({ per_page: 25, page: route.value.query.get('page') ?? 1 })}`,
  );
  return (
    <Shown of={list}>
      {({ payments, meta }) =>
        payments.length === 0 ? (
          <Empty title="No payments yet">
            <p class="soft">Payments by a provider and those recorded by hand stand here.</p>
          </Empty>
        ) : (
          <>
            <PaymentTable payments={payments} />
            <Pager meta={meta} />
          </>
        )
      }
    </Shown>
  );
}

export const PAYMENT_COLUMNS: readonly Column<Payment>[] = [
  { head: 'When', cell: ({ created_at }) => <When at={created_at} /> },
  {
    head: 'For',
    cell: ({ invoice_ids, invoice_numbers }) =>
      invoice_ids.map((id, index) => (
        <a key={id} href={to('invoices', id)}>
          {invoice_numbers[index] ?? 'invoice'}{' '}
        </a>
      )),
  },
  { head: 'By', cell: ({ type, payment_provider_type }) => payment_provider_type ?? type, isExtra: true },
  {
    head: 'State',
    cell: ({ payment_status, provider_error }) => (
      <>
        <Badge of={payment_status} />
        {provider_error && <span class="second">{provider_error.message}</span>}
      </>
    ),
  },
  {
    head: 'Amount',
    cell: ({ amount_cents, amount_currency }) => money(amount_cents, amount_currency),
    isNumber: true,
  },
];

export function PaymentTable({ payments }: { payments: readonly Payment[] }) {
  return (
    <Table
      label="Payments"
      rows={payments}
      keyOf={({ svc_id }) => svc_id}
      href={({ svc_id }) => to('payments', svc_id)}
      columns={PAYMENT_COLUMNS}
    />
  );
}
