import { useSignal } from '@preact/signals';
import { to } from '../../frame/route.ts';
import { useRead } from '../../frame/use-read.ts';
import { money } from '../../parts/amounts.ts';
import { Badge, InvoiceBadge } from '../../parts/badge.tsx';
import { Copy, Id } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Offers } from '../../parts/offers.tsx';
import { Facts, Page, Section } from '../../parts/page.tsx';
import { customerName } from '../../parts/records.ts';
import { Shown } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { day, When } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';
import type { PaymentRequest } from './records.ts';

const words = t.payments;

/** What a customer was asked to pay, in one go. */
export function RequestPage({ id }: { id: string }) {
  const url = useSignal<string | undefined>(undefined);
  const path = `/payment_requests/${encodeURIComponent(id)}`;
  const reading = useRead<{ payment_request: PaymentRequest }>(path);
  return (
    <Shown of={reading} rows={6}>
      {({ payment_request: request }) => (
        <Page
          title={words.requestOf(money(request.amount_cents, request.amount_currency))}
          badge={<Badge of={request.payment_status} />}
          back={{ href: to('payments', undefined, undefined, { show: 'requests' }), text: words.requests }}
          under={
            <>
              {words.to} <a href={to('customers', request.customer.external_id)}>{customerName(request.customer)}</a> ·{' '}
              <When at={request.created_at} />
            </>
          }
          actions={
            <Offers
              of={[
                request.payment_status !== 'succeeded' && {
                  text: words.link,
                  submit: words.makeLink,
                  needs: 'payment_request',
                  about: words.linkAbout,
                  command: () => ({ method: 'POST', path: `${path}/payment_url` }),
                  onDone: (answer) => {
                    url.value = (
                      answer as { payment_request_payment_details?: { payment_url: string } }
                    ).payment_request_payment_details?.payment_url;
                  },
                },
              ]}
            />
          }
        >
          <Section title={words.invoices}>
            <Table
              label={words.invoices}
              rows={request.invoices}
              keyOf={({ svc_id }) => svc_id}
              href={({ svc_id }) => to('invoices', svc_id)}
              columns={[
                { head: words.number, cell: ({ number }) => number },
                { head: words.state, cell: (invoice) => <InvoiceBadge invoice={invoice} /> },
                { head: words.dueOn, cell: ({ payment_due_date }) => day(payment_due_date), isExtra: true },
                {
                  head: words.amount,
                  cell: ({ total_due_amount_cents, currency }) => money(total_due_amount_cents, currency),
                  isNumber: true,
                },
              ]}
            />
          </Section>
          <Section title={t.page.facts}>
            <div class="card padded">
              <Facts
                of={[
                  [words.sentTo, request.email],
                  [words.campaign, request.dunning_campaign_code ?? words.byHand],
                  [t.page.id, <Id of={request.svc_id} />],
                ]}
              />
            </div>
          </Section>
          {url.value !== undefined && (
            <Dialog
              title={words.link}
              onClose={() => {
                url.value = undefined;
              }}
            >
              <p class="soft">{words.linkReady}</p>
              <div class="curl">
                <pre>{url.value}</pre>
                <Copy text={url.value} label={words.copyLink} />
              </div>
            </Dialog>
          )}
        </Page>
      )}
    </Shown>
  );
}
