import type { ComponentChildren } from 'preact';
import { to } from '../../frame/route.ts';
import type { Reading } from '../../frame/use-read.ts';
import { money } from '../../parts/amounts.ts';
import { InvoiceBadge } from '../../parts/badge.tsx';
import { customerName, type Invoice } from '../../parts/records.ts';
import { Empty, Shown } from '../../parts/states.tsx';
import { type PageMeta, Pager, Table } from '../../parts/table.tsx';
import { day } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';

/** A page of invoices; what is still due stands apart from the total. */
export function InvoiceTable({
  list,
  isOfCustomer = false,
  empty,
}: {
  list: Reading<{ invoices: Invoice[]; meta: PageMeta }> & { again: () => void };
  isOfCustomer?: boolean;
  empty?: ComponentChildren;
}) {
  return (
    <Shown of={list} rows={8}>
      {({ invoices, meta }) =>
        invoices.length === 0 ? (
          (empty ?? (
            <Empty title={t.invoices.none}>
              <p class="soft">{t.invoices.noneHint}</p>
            </Empty>
          ))
        ) : (
          <>
            <Table
              label={t.invoices.title}
              rows={invoices}
              keyOf={({ svc_id }) => svc_id}
              href={({ svc_id }) => to('invoices', svc_id)}
              columns={[
                {
                  head: t.invoices.number,
                  cell: ({ number, status, customer }) => (
                    <>
                      {number || status}
                      {!isOfCustomer && <span class="second narrow-only">{customerName(customer)}</span>}
                    </>
                  ),
                },
                ...(isOfCustomer
                  ? []
                  : [
                      {
                        head: t.invoices.customer,
                        cell: ({ customer }: Invoice) => (
                          <a href={to('customers', customer.external_id)}>{customerName(customer)}</a>
                        ),
                        isExtra: true,
                      },
                    ]),
                { head: t.invoices.state, cell: (invoice) => <InvoiceBadge invoice={invoice} /> },
                { head: t.invoices.issuedHead, cell: ({ issuing_date }) => day(issuing_date), isExtra: true },
                {
                  head: t.invoices.payableUntilHead,
                  cell: ({ payment_due_date }) => day(payment_due_date),
                  isExtra: true,
                },
                {
                  head: t.invoices.total,
                  cell: ({ total_amount_cents, currency }) => money(total_amount_cents, currency),
                  isNumber: true,
                },
                {
                  head: t.invoices.due,
                  cell: ({ total_due_amount_cents, currency, status }) =>
                    status === 'finalized' && total_due_amount_cents > 0 ? (
                      money(total_due_amount_cents, currency)
                    ) : (
                      <span class="soft">–</span>
                    ),
                  isNumber: true,
                  isExtra: true,
                },
              ]}
            />
            <Pager meta={meta} />
          </>
        )
      }
    </Shown>
  );
}
