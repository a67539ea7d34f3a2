import type { ComponentChildren } from 'preact';
import { to } from '../../frame/route.ts';
import type { Reading } from '../../frame/use-read.ts';
import { money } from '../../parts/amounts.ts';
import { InvoiceBadge } from '../../parts/badge.tsx';
import { customerName, type Invoice } from '../../parts/records.ts';
import { Empty, Shown } from '../../parts/states.tsx';
import { type PageMeta, Pager, Table } from '../../parts/table.tsx';
import { day } from '../../parts/times.tsx';

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
            <Empty title="No invoices yet">
              <p class="soft">The first one is made when a period of a subscription ends.</p>
            </Empty>
          ))
        ) : (
          <>
            <Table
              label="Invoices"
              rows={invoices}
              keyOf={({ svc_id }) => svc_id}
              href={({ svc_id }) => to('invoices', svc_id)}
              columns={[
                { head: 'Number', cell: ({ number, status }) => number || status },
                ...(isOfCustomer
                  ? []
                  : [
                      {
                        head: 'Customer',
                        cell: ({ customer }: Invoice) => (
                          <a href={to('customers', customer.external_id)}>{customerName(customer)}</a>
                        ),
                      },
                    ]),
                { head: 'State', cell: (invoice) => <InvoiceBadge invoice={invoice} /> },
                { head: 'Issued', cell: ({ issuing_date }) => day(issuing_date), isExtra: true },
                { head: 'Payable until', cell: ({ payment_due_date }) => day(payment_due_date), isExtra: true },
                {
                  head: 'Total',
                  cell: ({ total_amount_cents, currency }) => money(total_amount_cents, currency),
                  isNumber: true,
                },
                {
                  head: 'Still due',
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
