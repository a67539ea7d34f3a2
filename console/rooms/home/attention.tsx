import { type Filters, to } from '../../frame/route.ts';
import { useRead } from '../../frame/use-read.ts';
import { count } from '../../parts/amounts.ts';
import { Badge } from '../../parts/badge.tsx';
import { Section } from '../../parts/page.tsx';
import { Shown } from '../../parts/states.tsx';
import { Ago } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';

interface Row {
  kind: string;
  severity: 'critical' | 'warning' | 'info';
  count: number;
  more: boolean;
  since: string;
}

/** Words and the list that shows it, where the console has one. */
const KINDS: Record<string, { text: string; room?: string; id?: string; filters?: Filters }> = {
  audit_findings: { text: t.home.auditFindings, room: 'audit' },
  payment_provider_failing: { text: t.home.providersFailing, room: 'settings', id: 'providers' },
  invoice_generation_errors: { text: t.home.generationErrors, room: 'invoices', filters: { show: 'broken' } },
  test_clock_failed: { text: t.home.clockFailed, room: 'clock' },
  invoices_failed: { text: t.home.invoicesFailed, room: 'invoices', filters: { show: 'broken' } },
  payments_failed: { text: t.home.paymentsFailed, room: 'invoices', filters: { show: 'failed' } },
  disputes_open: { text: t.home.disputesOpen, room: 'invoices', filters: { show: 'disputed' } },
  webhook_endpoints_failing: { text: t.home.endpointsFailing, room: 'webhooks' },
  unmatched_events: { text: t.home.unmatchedEvents, room: 'events', filters: { show: 'unmatched' } },
  mails_failed: { text: t.home.mailsFailed, room: 'mails' },
  mails_unsent: { text: t.home.mailsUnsent, room: 'mails' },
  top_ups_failed: { text: t.home.topUpsFailed, room: 'wallets' },
  invoices_overdue: { text: t.home.invoicesOverdue, room: 'invoices', filters: { show: 'overdue' } },
  drafts_to_finalize: { text: t.home.draftsToFinalize, room: 'invoices', filters: { show: 'draft' } },
  api_keys_expiring: { text: t.home.keysExpiring, room: 'keys' },
  wallets_ending: { text: t.home.walletsEnding, room: 'wallets', filters: { status: 'ending' } },
  quotes_waiting: { text: t.home.quotesWaiting, room: 'quotes', filters: { show: 'forms' } },
  billing_entity_incomplete: { text: t.home.entitiesIncomplete, room: 'settings', id: 'entities' },
  drifts_open: { text: t.home.driftsOpen },
  e_documents_failed: { text: t.home.eDocumentsFailed },
};

const TONES = { critical: 'bad', warning: 'wait', info: 'plain' } as const;

/** What somebody has to look at, the most urgent first, each with the list that shows it. */
export function Attention() {
  const reading = useRead<{ attention: Row[] }>('/attention', { everySeconds: 30 });
  return (
    <Section title={t.home.needsAttention}>
      <Shown of={reading}>
        {({ attention }) => (
          <ul class="list card">
            {attention.map(({ kind, severity, count: number, more, since }) => {
              const { text, room, id, filters } = KINDS[kind] ?? { text: kind.replaceAll('_', ' ') };
              return (
                <li key={kind}>
                  <Badge of={severity} tone={TONES[severity]}>
                    {`${count(number)}${more ? '+' : ''}`}
                  </Badge>
                  <span class="what">
                    {room === undefined ? text : <a href={to(room, id, undefined, filters)}>{text}</a>}
                  </span>
                  <span class="end soft">
                    {t.home.since}
                    <Ago at={since} />
                  </span>
                </li>
              );
            })}
            {attention.length === 0 && (
              <li>
                <Badge of="good" tone="good">
                  ✓
                </Badge>
                <span>{t.home.nothingNeeded}</span>
              </li>
            )}
          </ul>
        )}
      </Shown>
    </Section>
  );
}
