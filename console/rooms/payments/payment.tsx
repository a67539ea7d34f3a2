import { to } from '../../frame/route.ts';
import { useRead } from '../../frame/use-read.ts';
import { money } from '../../parts/amounts.ts';
import { Badge } from '../../parts/badge.tsx';
import { Id } from '../../parts/copy.tsx';
import { NamedCustomer } from '../../parts/customer-names.tsx';
import { inLedger } from '../../parts/in-ledger.tsx';
import { type Offer, Offers } from '../../parts/offers.tsx';
import { Facts, Page, Section } from '../../parts/page.tsx';
import { Shown } from '../../parts/states.tsx';
import { day, When } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';
import type { Payment } from './records.ts';

const words = t.payments;

/** One payment: what it paid, and what the provider answered. */
export function PaymentPage({ id }: { id: string }) {
  const reading = useRead<{ payment: Payment }>(`/payments/${encodeURIComponent(id)}`);
  return (
    <Shown of={reading} rows={6}>
      {({ payment }) => (
        <Page
          title={words.paymentOf(money(payment.amount_cents, payment.amount_currency))}
          badge={<Badge of={payment.payment_status} />}
          back={{ href: to('payments'), text: words.title }}
          under={
            <>
              {words.from} <NamedCustomer id={payment.external_customer_id} /> · <When at={payment.created_at} />
            </>
          }
          actions={<Offers of={[retries(payment)]} />}
        >
          {payment.provider_error && (
            <div class="notice bad">
              <p>{payment.provider_error.message}</p>
              <p class="soft">
                {words.providerSays} <code>{payment.provider_error.error_code}</code>
              </p>
            </div>
          )}
          <Section title={t.page.facts}>
            <div class="card padded">
              <Facts
                of={[
                  [
                    words.paysFor,
                    payment.invoice_ids.map((each, index) => (
                      <a key={each} href={to('invoices', each)}>
                        {payment.invoice_numbers[index] ?? words.invoice}{' '}
                      </a>
                    )),
                  ],
                  [
                    words.request,
                    payment.payable_type === 'PaymentRequest' && (
                      <a href={to('payments', payment.svc_payable_id, 'request')}>{words.requestLink}</a>
                    ),
                  ],
                  [words.by, payment.payment_provider_type ?? words.types[payment.type] ?? payment.type],
                  [words.connection, payment.payment_provider_code],
                  [words.reference, payment.reference],
                  [words.atProvider, payment.provider_payment_id && <Id of={payment.provider_payment_id} />],
                  [words.expected, payment.expected_settlement_date && day(payment.expected_settlement_date)],
                  ...inLedger('payment', payment.svc_id),
                  [t.page.id, <Id of={payment.svc_id} />],
                ]}
              />
            </div>
          </Section>
          {Object.keys(payment.next_action).length > 0 && (
            <Section title={words.nextAction}>
              <pre class="json">{JSON.stringify(payment.next_action, null, 2)}</pre>
            </Section>
          )}
        </Page>
      )}
    </Shown>
  );
}

/** A failed payment of an invoice is tried again by charging the invoice. */
const retries = ({ payment_status, payable_type, svc_payable_id, amount_cents, amount_currency }: Payment) =>
  payment_status === 'failed' &&
  payable_type === 'Invoice' &&
  ({
    text: words.retry,
    needs: 'payment',
    about: words.retryAbout(money(amount_cents, amount_currency)),
    command: () => ({ method: 'POST', path: `/invoices/${svc_payable_id}/retry_payment` }),
  } satisfies Offer);
