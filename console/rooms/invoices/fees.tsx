import { useSignal } from '@preact/signals';
import { useRead } from '../../frame/use-read.ts';
import { averagePrice, decimal, money } from '../../parts/amounts.ts';
import { Badge } from '../../parts/badge.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Shown } from '../../parts/states.tsx';
import { type PageMeta, Table } from '../../parts/table.tsx';
import { When } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';

export interface Fee {
  svc_id: string;
  item: {
    type: string;
    code: string;
    name: string;
    invoice_display_name: string;
    filters: Record<string, string[]> | null;
    grouped_by: Record<string, string | null>;
  };
  units: string;
  precise_unit_amount: string;
  amount_cents: number;
  amount_currency: string;
  events_count: number | null;
}

/** The lines of an invoice; each says why it costs what it costs. */
export function Fees({ fees, currency }: { fees: readonly Fee[]; currency: string }) {
  const opened = useSignal<Fee | undefined>(undefined);
  return (
    <>
      <Table
        label={t.invoices.fees}
        rows={fees}
        keyOf={({ svc_id }) => svc_id}
        columns={[
          {
            head: t.invoices.line,
            cell: (fee) => (
              <>
                {nameOf(fee)}
                <span class="second">{partsOf(fee)}</span>
              </>
            ),
          },
          { head: t.invoices.units, cell: ({ units }) => decimal(units), isNumber: true },
          {
            head: t.invoices.priceOfOne,
            cell: ({ precise_unit_amount }) => averagePrice(precise_unit_amount, currency),
            isNumber: true,
            isExtra: true,
          },
          { head: t.invoices.amount, cell: ({ amount_cents }) => money(amount_cents, currency), isNumber: true },
          {
            head: t.invoices.origin,
            cell: (fee) => (
              <button
                type="button"
                class="small"
                aria-label={t.invoices.whyLabel(money(fee.amount_cents, currency), fee.item.name)}
                onClick={() => {
                  opened.value = fee;
                }}
              >
                {t.invoices.why}
              </button>
            ),
          },
        ]}
      />
      {opened.value && (
        <Why
          fee={opened.value}
          onClose={() => {
            opened.value = undefined;
          }}
        />
      )}
    </>
  );
}

const nameOf = ({ item }: Fee): string =>
  item.type === 'credit' ? t.invoices.creditLine : item.invoice_display_name || item.name;

function partsOf({ item, events_count }: Fee): string {
  const values = [...Object.values(item.filters ?? {}).flat(), ...Object.values(item.grouped_by ?? {})];
  return [
    ...values.filter((value) => value !== null),
    ...(events_count === null
      ? [t.invoices.kinds[item.type] ?? item.type.replaceAll('_', ' ')]
      : [t.invoices.eventCount(decimal(String(events_count)))]),
  ].join(' · ');
}

interface Explanation {
  explainable: boolean;
  reason?: string;
  provisional: boolean;
  texts: string[];
  events: { count: number; url: string } | null;
  check: { equal: boolean; explained_amount_cents: number; stored_amount_cents: number } | null;
}

/** How a fee was computed, as sentences, with the events behind it. */
function Why({ fee, onClose }: { fee: Fee; onClose: () => void }) {
  const showsEvents = useSignal(false);
  const reading = useRead<{ explanation: Explanation }>(`/fees/${fee.svc_id}/explanation`);
  return (
    <Dialog title={`Why ${money(fee.amount_cents, fee.amount_currency)}?`} onClose={onClose}>
      <Shown of={reading}>
        {({ explanation }) => (
          <>
            {!explanation.explainable && (
              <p class="notice">
                {t.invoices.notExplained}
                {explanation.reason?.replaceAll('_', ' ')}.
              </p>
            )}
            <ol class="reasons">
              {explanation.texts.map((text) => (
                <li key={text}>{text}</li>
              ))}
            </ol>
            {explanation.check && (
              <p>
                <Badge of="check" tone={explanation.check.equal ? 'good' : 'bad'}>
                  {explanation.check.equal ? t.invoices.verifiedEqual : t.invoices.verifiedDifferent}
                </Badge>{' '}
                <span class="soft">
                  {money(explanation.check.explained_amount_cents, fee.amount_currency)}
                  {t.invoices.recomputedAmount} {money(explanation.check.stored_amount_cents, fee.amount_currency)}
                  {t.invoices.invoicedAmount}
                </span>
              </p>
            )}
            {explanation.events && explanation.events.count > 0 && (
              <p>
                <button
                  type="button"
                  aria-expanded={showsEvents.value}
                  onClick={() => {
                    showsEvents.value = !showsEvents.value;
                  }}
                >
                  {t.invoices.toggleEvents(
                    showsEvents.value ? t.invoices.hide : t.invoices.show,
                    decimal(String(explanation.events.count)),
                  )}
                </button>
              </p>
            )}
            {showsEvents.value && <EventsOfFee id={fee.svc_id} />}
          </>
        )}
      </Shown>
    </Dialog>
  );
}

interface FeeEvent {
  transaction_id: string;
  timestamp: string;
  properties: Record<string, unknown>;
}

function EventsOfFee({ id }: { id: string }) {
  const page = useSignal(1);
  const reading = useRead<{ events: FeeEvent[]; meta: PageMeta }>(`/fees/${id}/events?per_page=20&page=${page.value}`);
  return (
    <Shown of={reading}>
      {({ events, meta }) => (
        <>
          <Table
            label={t.invoices.eventsOfThisFee}
            rows={events}
            keyOf={({ transaction_id }) => transaction_id}
            columns={[
              { head: t.invoices.event, cell: ({ transaction_id }) => <code>{transaction_id}</code> },
              { head: t.invoices.time, cell: ({ timestamp }) => <When at={timestamp} /> },
              {
                head: t.invoices.properties,
                cell: ({ properties }) => <code>{JSON.stringify(properties)}</code>,
                isExtra: true,
              },
            ]}
          />
          <nav class="pager" aria-label={t.invoices.eventPages}>
            <button type="button" class="quiet" disabled={page.value === 1} onClick={() => page.value--}>
              {t.invoices.previousPage}
            </button>
            <button type="button" class="quiet" disabled={!meta.next_page} onClick={() => page.value++}>
              {t.invoices.nextPage}
            </button>
          </nav>
        </>
      )}
    </Shown>
  );
}
