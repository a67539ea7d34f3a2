import { signal } from '@preact/signals';
import { searchOf } from '../../frame/route.ts';
import { useRead } from '../../frame/use-read.ts';
import { money } from '../../parts/amounts.ts';
import type { Offer } from '../../parts/offers.tsx';
import type { Invoice } from '../../parts/records.ts';
import { customers } from '../../parts/sources.ts';
import { Shown } from '../../parts/states.tsx';
import { day } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';

const words = t.payments;
/** As many invoices as one request may be shown with. */
const MOST_INVOICES = 100;

/** Overdue invoices of the customer in the form. */
const overdue = signal<readonly Invoice[]>([]);

/** Asks a customer to pay all overdue invoices at once; without `customerId` the form asks for whom. */
export const requestsPayment = (customerId?: string): Offer => ({
  text: words.newRequest,
  submit: words.send,
  needs: 'payment_request',
  isMain: customerId === undefined,
  fields: [
    ...(customerId === undefined
      ? [{ name: 'external_customer_id', label: words.customer, isNeeded: true, from: customers }]
      : []),
    { name: 'email', label: words.email, hint: words.emailHint },
  ],
  about: (values) => <Overdue of={customerId ?? values.external_customer_id ?? ''} />,
  command: ({ external_customer_id, email }) => ({
    method: 'POST',
    path: '/payment_requests',
    body: {
      payment_request: {
        external_customer_id: customerId ?? external_customer_id,
        ...(email ? { email } : {}),
        svc_invoice_ids: overdue.value.map(({ svc_id }) => svc_id),
      },
    },
  }),
});

function Overdue({ of: customer }: { of: string }) {
  const reading = useRead<{ invoices: Invoice[] }>(
    customer === ''
      ? null
      : `/invoices${searchOf({ external_customer_id: customer, payment_overdue: true, per_page: MOST_INVOICES })}`,
  );
  overdue.value = reading.data?.invoices ?? [];
  if (customer === '') return <p class="soft">{words.newRequestAbout}</p>;
  return (
    <Shown of={reading} rows={1}>
      {({ invoices }) =>
        invoices.length === 0 ? (
          <p class="soft">{words.nothingOverdue}</p>
        ) : (
          <ul class="prose">
            {invoices.map((invoice) => (
              <li key={invoice.svc_id}>
                {words.overdueLine(
                  invoice.number,
                  money(invoice.total_due_amount_cents, invoice.currency),
                  day(invoice.payment_due_date),
                )}
              </li>
            ))}
          </ul>
        )
      }
    </Shown>
  );
}
