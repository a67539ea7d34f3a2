import { route, searchOf, to } from '../../frame/route.ts';
import { useRead } from '../../frame/use-read.ts';
import { money } from '../../parts/amounts.ts';
import { Badge } from '../../parts/badge.tsx';
import { Empty, Shown } from '../../parts/states.tsx';
import { type Column, type PageMeta, Pager, Table } from '../../parts/table.tsx';
import { When } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';
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
          <Empty title={t.customers.noPayments}>
            <p class="soft">{t.customers.noPaymentsHint}</p>
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
  { head: t.customers.when, cell: ({ created_at }) => <When at={created_at} /> },
  {
    head: t.customers.for,
    cell: ({ invoice_ids, invoice_numbers }) =>
      invoice_ids.map((id, index) => (
        <a key={id} href={to('invoices', id)}>
          {invoice_numbers[index] ?? 'invoice'}{' '}
        </a>
      )),
  },
  { head: t.customers.by, cell: ({ type, payment_provider_type }) => payment_provider_type ?? type, isExtra: true },
  {
    head: t.customers.state,
    cell: ({ payment_status, provider_error }) => (
      <>
        <Badge of={payment_status} />
        {provider_error && <span class="second">{provider_error.message}</span>}
      </>
    ),
  },
  {
    head: t.customers.amount,
    cell: ({ amount_cents, amount_currency }) => money(amount_cents, amount_currency),
    isNumber: true,
  },
];

export function PaymentTable({ payments }: { payments: readonly Payment[] }) {
  return (
    <Table
      label={t.customers.payments}
      rows={payments}
      keyOf={({ svc_id }) => svc_id}
      href={({ svc_id }) => to('payments', svc_id)}
      columns={PAYMENT_COLUMNS}
    />
  );
}
