import { t } from '../texts/en.ts';

type Tone = 'good' | 'bad' | 'wait' | 'plain';

/** States of every noun, by what they ask of a person. */
const TONES: Record<string, Tone> = {
  active: 'good',
  succeeded: 'good',
  finalized: 'good',
  paid: 'good',
  ready: 'good',
  healthy: 'good',
  settled: 'good',
  available: 'good',
  sent: 'good',
  failed: 'bad',
  overdue: 'bad',
  disabled: 'bad',
  error: 'bad',
  bad: 'bad',
  critical: 'bad',
  pending: 'wait',
  draft: 'wait',
  processing: 'wait',
  advancing: 'wait',
  incomplete: 'wait',
  warning: 'wait',
  unmatched: 'wait',
};

export function Badge({ of, tone, children }: { of: string; tone?: Tone; children?: string }) {
  return <span class={`badge ${tone ?? TONES[of] ?? 'plain'}`}>{children ?? of.replaceAll('_', ' ')}</span>;
}

interface InvoiceState {
  status: string;
  payment_status: string;
  payment_overdue: boolean;
  payment_dispute_lost_at?: string | null;
  total_amount_cents: number;
  total_due_amount_cents?: number;
  total_paid_amount_cents?: number;
}

/** The one word that says what an invoice waits for. */
export function InvoiceBadge({ invoice }: { invoice: InvoiceState }) {
  const { status, payment_status: payment } = invoice;
  if (status !== 'finalized') return <Badge of={status} tone={status === 'voided' ? 'plain' : undefined} />;
  if (invoice.payment_dispute_lost_at) return <Badge of="bad">{t.parts.disputeLost}</Badge>;
  if (payment === 'succeeded') return <Badge of="paid" />;
  if (invoice.payment_overdue) return <Badge of="overdue" />;
  if (payment === 'failed') return <Badge of="failed">{t.parts.paymentFailed}</Badge>;
  if ((invoice.total_paid_amount_cents ?? 0) > 0) return <Badge of="pending">{t.parts.partlyPaid}</Badge>;
  return <Badge of="pending">{t.parts.open}</Badge>;
}
