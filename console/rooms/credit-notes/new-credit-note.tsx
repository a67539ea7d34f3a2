import { useSignal } from '@preact/signals';
import { go, to } from '../../frame/route.ts';
import { useAsked } from '../../frame/use-asked.ts';
import { useRead } from '../../frame/use-read.ts';
import { money } from '../../parts/amounts.ts';
import { fieldAmount, typedCents } from '../../parts/cents.ts';
import { CommandForm, type Values } from '../../parts/form.tsx';
import { Page } from '../../parts/page.tsx';
import { Failure, Shown } from '../../parts/states.tsx';
import { SumSteps } from '../../parts/sum-steps.tsx';
import { t } from '../../texts/en.ts';
import type { FullInvoice } from '../invoices/invoice.tsx';
import { REASONS } from './records.ts';

const words = t.creditNotes;

interface Estimate {
  currency: string;
  taxes_amount_cents: number;
  sub_total_excluding_taxes_amount_cents: number;
  coupons_adjustment_amount_cents: number;
  max_creditable_amount_cents: number;
  max_refundable_amount_cents: number;
  max_offsettable_amount_cents: number;
}

/** Gives back parts of an invoice: what it comes to is estimated before anything is made. */
export function NewCreditNote({ invoiceId }: { invoiceId: string }) {
  const reading = useRead<{ invoice: FullInvoice }>(`/invoices/${encodeURIComponent(invoiceId)}`);
  return (
    <Shown of={reading} rows={8}>
      {({ invoice }) => (
        <Page
          title={words.newTitle(invoice.number)}
          back={{ href: to('invoices', invoice.svc_id), text: invoice.number }}
          under={words.newUnder}
        >
          <NoteForm invoice={invoice} />
        </Page>
      )}
    </Shown>
  );
}

function NoteForm({ invoice }: { invoice: FullInvoice }) {
  const { currency } = invoice;
  const items = useSignal('[]');
  const body = { credit_note: { invoice_id: invoice.svc_id, items: JSON.parse(items.value) as object[] } };
  const asked = useAsked<{ estimated_credit_note: Estimate }>(
    body.credit_note.items.length > 0 ? '/credit_notes/estimate' : null,
    body,
  );
  const estimate = asked.data?.estimated_credit_note;
  const total = estimate ? estimate.sub_total_excluding_taxes_amount_cents + estimate.taxes_amount_cents : 0;
  const fees = invoice.fees.filter(({ amount_cents }) => amount_cents > 0);
  const itemsOf = (values: Values) =>
    fees.flatMap(({ svc_id }) => {
      const typed = values[`fee-${svc_id}`]?.trim() ?? '';
      return typed === '' || /^0+(\.0*)?$/.test(typed)
        ? []
        : [{ fee_id: svc_id, amount_cents: typedCents(typed, currency) }];
    });
  return (
    <div class="card padded narrow-form">
      <CommandForm
        submit={words.create}
        onDone={(answer) => {
          const made = (answer as { credit_note?: { svc_id: string } }).credit_note;
          if (made) go(to('credit-notes', made.svc_id));
        }}
        fields={[
          ...fees.map(({ svc_id, item, amount_cents }) => ({
            name: `fee-${svc_id}`,
            label: item.invoice_display_name || item.name,
            type: 'number' as const,
            value: fieldAmount(amount_cents, currency),
            hint: words.billed(money(amount_cents, currency)),
          })),
          {
            name: 'way',
            label: words.way,
            type: 'select',
            value: 'credit',
            options: [
              ['credit', words.wayCredit],
              ['refund', words.wayRefund],
              ['offset', words.wayOffset],
            ],
          },
          {
            name: 'reason',
            label: words.reason,
            type: 'select',
            value: 'other',
            options: REASONS.map((reason) => [reason, words.reasons[reason]!] as const),
          },
          { name: 'description', label: words.description, type: 'textarea' },
        ]}
        command={(values) => {
          const { way = 'credit', reason, description } = values;
          return {
            method: 'POST',
            path: '/credit_notes',
            body: {
              credit_note: {
                invoice_id: invoice.svc_id,
                items: itemsOf(values),
                reason,
                ...(description ? { description } : {}),
                [`${way}_amount_cents`]: total,
              },
            },
          };
        }}
      >
        {(values) => {
          const wanted = JSON.stringify(itemsOf(values));
          if (wanted !== items.peek()) setTimeout(() => (items.value = wanted));
          if (asked.error) return <Failure error={asked.error} />;
          if (!estimate) return <p class="soft">{words.choose}</p>;
          return (
            <>
              <SumSteps
                currency={currency}
                of={[
                  ...(estimate.coupons_adjustment_amount_cents > 0
                    ? [{ text: words.coupons, cents: -estimate.coupons_adjustment_amount_cents }]
                    : []),
                  { text: words.beforeTaxes, cents: estimate.sub_total_excluding_taxes_amount_cents },
                  { text: words.taxes, cents: estimate.taxes_amount_cents },
                  { text: words.total, cents: total, isTotal: true },
                ]}
              />
              <p class="soft">
                {words.atMost(
                  money(estimate.max_creditable_amount_cents, currency),
                  money(estimate.max_refundable_amount_cents, currency),
                  money(estimate.max_offsettable_amount_cents, currency),
                )}
              </p>
            </>
          );
        }}
      </CommandForm>
    </div>
  );
}
