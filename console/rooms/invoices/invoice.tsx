import { to } from '../../frame/route.ts';
import { can } from '../../frame/session.ts';
import { useRead } from '../../frame/use-read.ts';
import { money } from '../../parts/amounts.ts';
import { Badge, InvoiceBadge } from '../../parts/badge.tsx';
import { copyText, Id } from '../../parts/copy.tsx';
import { inLedger } from '../../parts/in-ledger.tsx';
import { Facts, Page, Section } from '../../parts/page.tsx';
import { customerName, type Invoice } from '../../parts/records.ts';
import { Shown } from '../../parts/states.tsx';
import { SumSteps } from '../../parts/sum-steps.tsx';
import { day, When } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';
import { PaymentTable } from '../customers/payments.tsx';
import type { Payment } from '../payments/records.ts';
import { type Fee, Fees } from './fees.tsx';
import { InvoiceActions } from './invoice-actions.tsx';
import { factsOf, stepsOf } from './totals.ts';

export interface FullInvoice extends Invoice {
  fees: Fee[];
  applied_taxes: { tax_name: string; tax_rate: number; amount_cents: number }[];
  billing_periods: {
    external_subscription_id: string;
    charges_from_datetime: string | null;
    charges_to_datetime: string | null;
  }[];
  error_details: { error_code: string; details: Record<string, unknown> }[];
  last_verification?: { status: string; level: string; verified_at: string };
  voided_at: string | null;
}

/** Why this amount? */
export function InvoicePage({ id }: { id: string }) {
  const path = encodeURIComponent(id);
  const reading = useRead<{ invoice: FullInvoice }>(`/invoices/${path}`);
  const payments = useRead<{ payments: Payment[] }>(can('payment') ? `/payments?invoice_id=${path}&per_page=20` : null);
  return (
    <Shown of={reading} rows={10}>
      {({ invoice }) => (
        <Page
          title={invoice.number || t.invoices.draftTitle(customerName(invoice.customer))}
          badge={<InvoiceBadge invoice={invoice} />}
          back={{ href: to('invoices'), text: t.invoices.title }}
          under={
            <>
              {money(invoice.total_amount_cents, invoice.currency)}
              {t.invoices.givenTo}{' '}
              <a href={to('customers', invoice.customer.external_id)}>{customerName(invoice.customer)}</a>
              {t.invoices.issuedLine} {day(invoice.issuing_date)}
              {t.invoices.payableUntilLine}
              {day(invoice.payment_due_date)}
            </>
          }
          actions={
            <>
              <button type="button" onClick={() => void copyText(factsOf(invoice))}>
                {t.invoices.copyForCustomer}
              </button>
              <InvoiceActions invoice={invoice} />
            </>
          }
        >
          {invoice.error_details.map(({ error_code, details }) => (
            <div class="notice bad" key={error_code}>
              <p>{error_code.replaceAll('_', ' ')}</p>
              <pre class="json">{JSON.stringify(details, null, 2)}</pre>
            </div>
          ))}
          <Section
            title={t.invoices.feesSection}
            more={
              invoice.last_verification && (
                <Badge of="verified" tone={invoice.last_verification.status === 'verified' ? 'good' : 'bad'}>
                  {`recomputed: ${invoice.last_verification.status}`}
                </Badge>
              )
            }
          >
            <Fees fees={invoice.fees} currency={invoice.currency} />
          </Section>
          <Section title={t.invoices.totalsSection}>
            <SumSteps of={stepsOf(invoice)} currency={invoice.currency} />
          </Section>
          {payments.data && payments.data.payments.length > 0 && (
            <Section title={t.invoices.payments}>
              <PaymentTable payments={payments.data.payments} />
            </Section>
          )}
          <Section title={t.invoices.facts}>
            <div class="card padded">
              <Facts
                of={[
                  [t.invoices.kind, t.invoices.invoiceTypes[invoice.invoice_type] ?? invoice.invoice_type],
                  ...invoice.billing_periods.map(
                    (period) =>
                      [
                        t.invoices.usage,
                        <>
                          {day(period.charges_from_datetime)} – {day(period.charges_to_datetime)}
                          {t.invoices.ofCustomer}{' '}
                          <a href={to('subscriptions', period.external_subscription_id)}>
                            {period.external_subscription_id}
                          </a>
                        </>,
                      ] as const,
                  ),
                  [t.invoices.made, <When at={invoice.created_at} />],
                  [t.invoices.voided, invoice.voided_at && <When at={invoice.voided_at} />],
                  ...inLedger('invoice', invoice.svc_id),
                  [t.invoices.id, <Id of={invoice.svc_id} />],
                ]}
              />
            </div>
          </Section>
        </Page>
      )}
    </Shown>
  );
}
