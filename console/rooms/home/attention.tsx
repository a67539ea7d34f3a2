import { type Filters, to } from '../../frame/route.ts';
import { useRead } from '../../frame/use-read.ts';
import { count } from '../../parts/amounts.ts';
import { Badge } from '../../parts/badge.tsx';
import { Section } from '../../parts/page.tsx';
import { Shown } from '../../parts/states.tsx';
import { Ago } from '../../parts/times.tsx';

interface Row {
  kind: string;
  severity: 'critical' | 'warning' | 'info';
  count: number;
  more: boolean;
  since: string;
}

/** Words and the list that shows it, where the console has one. */
const KINDS: Record<string, { text: string; room?: string; filters?: Filters }> = {
  audit_findings: { text: 'findings of the audit of the books are open' },
  payment_provider_failing: { text: 'payment providers cannot be reached' },
  invoice_generation_errors: { text: 'invoices could not be made', room: 'invoices', filters: { show: 'broken' } },
  test_clock_failed: { text: 'advance of the clock failed', room: 'clock' },
  invoices_failed: { text: 'invoices failed', room: 'invoices', filters: { show: 'broken' } },
  payments_failed: { text: 'payments failed and are still due', room: 'invoices', filters: { show: 'failed' } },
  disputes_open: { text: 'disputes are open', room: 'invoices', filters: { show: 'disputed' } },
  webhook_endpoints_failing: { text: 'webhook endpoints fail or are disabled', room: 'webhooks' },
  unmatched_events: { text: 'events that nothing bills', room: 'events', filters: { show: 'unmatched' } },
  mails_failed: { text: 'mails could not be sent' },
  mails_unsent: { text: 'mails wait: there is no mail server' },
  top_ups_failed: { text: 'top-ups failed' },
  invoices_overdue: { text: 'invoices are overdue', room: 'invoices', filters: { show: 'overdue' } },
  drafts_to_finalize: { text: 'drafts become final today', room: 'invoices', filters: { show: 'draft' } },
  api_keys_expiring: { text: 'API keys end within 14 days', room: 'keys' },
};

const TONES = { critical: 'bad', warning: 'wait', info: 'plain' } as const;

/** What somebody has to look at, the most urgent first, each with the list that shows it. */
export function Attention() {
  const reading = useRead<{ attention: Row[] }>('/attention', { everySeconds: 30 });
  return (
    <Section title="Needs attention">
      <Shown of={reading}>
        {({ attention }) => (
          <ul class="list card">
            {attention.map(({ kind, severity, count: number, more, since }) => {
              const { text, room, filters } = KINDS[kind] ?? { text: kind.replaceAll('_', ' ') };
              return (
                <li key={kind}>
                  <Badge of={severity} tone={TONES[severity]}>
                    {`${count(number)}${more ? '+' : ''}`}
                  </Badge>
                  <span class="what">
                    {room === undefined ? text : <a href={to(room, undefined, undefined, filters)}>{text}</a>}
                  </span>
                  <span class="end soft">
                    since <Ago at={since} />
                  </span>
                </li>
              );
            })}
            {attention.length === 0 && (
              <li>
                <Badge of="good" tone="good">
                  ✓
                </Badge>
                <span>Nothing needs you: no failed payment, nothing overdue, every event is billed.</span>
              </li>
            )}
          </ul>
        )}
      </Shown>
    </Section>
  );
}
