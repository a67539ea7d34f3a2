import { searchOf, to } from '../../frame/route.ts';
import { useRead } from '../../frame/use-read.ts';
import { count, decimal, money } from '../../parts/amounts.ts';
import { Badge } from '../../parts/badge.tsx';
import { NamedCustomer } from '../../parts/customer-names.tsx';
import { Section } from '../../parts/page.tsx';
import { Shown } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { day, When } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';
import { reasonWords } from './reason-words.ts';

const words = t.events.trace;

interface Charge {
  svc_charge_id: string;
  charge_code: string;
  group: Record<string, string | null>;
  value: string;
  window: { from: string; to: string } | null;
  invoice: { svc_id: string; number: string | null; status: string } | null;
  fee: { svc_id: string; amount_cents: number; currency: string } | null;
}

interface Trace {
  received_at: string;
  verdict: {
    outcome: string;
    reasons: string[];
    warnings: string[];
    external_customer_id: string | null;
    plan_code: string | null;
  };
  versions_count: number;
  unmatched: { reason: string; status: string; healed_at: string | null } | null;
  charges: Charge[];
  in_advance_fees: { svc_id: string; amount_cents: number; currency: string; svc_invoice_id: string | null }[];
  corrections: { svc_id: string; kind: string; status: string; reason: string; created_at: string }[];
  wallet: { svc_id: string; code: string; name: string | null; is_target: boolean } | null;
  alerts: { svc_id: string; code: string; triggered_at: string }[];
}

/** What became of an event, as a story with links: arrived, counted, billed, and what followed. */
export function EventTrace({ transactionId, subscription }: { transactionId: string; subscription: string }) {
  const path = `/events/${encodeURIComponent(transactionId)}/trace${searchOf({ external_subscription_id: subscription })}`;
  const reading = useRead<{ trace: Trace }>(path, { everySeconds: 5 });
  return (
    <Section title={words.title}>
      <Shown of={reading} rows={4}>
        {({ trace }) => (
          <>
            <ol class="story card">
              <Arrived of={trace} />
              <Counted of={trace} />
              {trace.in_advance_fees.map((fee) => (
                <li key={fee.svc_id}>
                  {words.inAdvance(money(fee.amount_cents, fee.currency))}{' '}
                  {fee.svc_invoice_id && <a href={to('invoices', fee.svc_invoice_id)}>{words.openInvoice}</a>}
                </li>
              ))}
              {trace.corrections.map((correction) => (
                <li key={correction.svc_id}>
                  {words.correction(correction.kind.replaceAll('_', ' '), correction.reason)}{' '}
                  <Badge of={correction.status} /> <When at={correction.created_at} />
                </li>
              ))}
              {trace.wallet && (
                <li>
                  {trace.wallet.is_target ? words.targetWallet : words.wallet}{' '}
                  <a href={to('wallets', trace.wallet.svc_id)}>{trace.wallet.name ?? trace.wallet.code}</a>
                </li>
              )}
              {trace.alerts.map((alert) => (
                <li key={alert.svc_id}>
                  {words.alert(alert.code)} <When at={alert.triggered_at} />
                </li>
              ))}
            </ol>
            {trace.charges.length > 0 && <Charges of={trace.charges} />}
          </>
        )}
      </Shown>
    </Section>
  );
}

const Arrived = ({ of: trace }: { of: Trace }) => (
  <li>
    {words.arrived} <When at={trace.received_at} />
    {trace.versions_count > 1 && <span class="soft"> · {words.versions(count(trace.versions_count))}</span>}
  </li>
);

function Counted({ of: { verdict, unmatched } }: { of: Trace }) {
  const isCounted = verdict.outcome === 'counted';
  return (
    <li>
      <Badge of={verdict.outcome} tone={isCounted ? 'good' : 'bad'}>
        {isCounted ? words.counted : words.notCounted}
      </Badge>{' '}
      {verdict.reasons.map(reasonWords).join(', ')}
      {isCounted && verdict.external_customer_id !== null && (
        <>
          {words.forCustomer} <NamedCustomer id={verdict.external_customer_id} />
          {verdict.plan_code !== null && (
            <>
              {words.byPlan} <a href={to('plans', verdict.plan_code)}>{verdict.plan_code}</a>
            </>
          )}
        </>
      )}
      {unmatched?.status === 'healed' && <span class="soft"> · {words.healed}</span>}
      {verdict.warnings.map((warning) => (
        <span key={warning} class="second soft">
          {words.warnings[warning] ?? warning.replaceAll('_', ' ')}
        </span>
      ))}
    </li>
  );
}

const Charges = ({ of: charges }: { of: readonly Charge[] }) => (
  <Table
    label={words.charges}
    rows={charges}
    keyOf={({ svc_charge_id }) => svc_charge_id}
    columns={[
      {
        head: words.charge,
        cell: ({ charge_code, group }) => (
          <>
            {charge_code}
            {Object.entries(group).map(([key, value]) => (
              <span key={key} class="second">
                {key}: {value ?? '–'}
              </span>
            ))}
          </>
        ),
      },
      { head: words.value, cell: ({ value }) => decimal(value), isNumber: true },
      {
        head: words.window,
        cell: ({ window }) => (window ? `${day(window.from)} – ${day(window.to)}` : '–'),
        isExtra: true,
      },
      {
        head: words.invoice,
        cell: ({ invoice }) =>
          invoice ? (
            <>
              <a href={to('invoices', invoice.svc_id)}>{invoice.number ?? words.draft}</a> <Badge of={invoice.status} />
            </>
          ) : (
            <span class="soft">{words.notBilledYet}</span>
          ),
      },
      {
        head: words.fee,
        cell: ({ fee }) => (fee ? money(fee.amount_cents, fee.currency) : '–'),
        isNumber: true,
      },
    ]}
  />
);
