import { useMemo } from 'preact/hooks';
import { useRead } from '../../frame/use-read.ts';
import { FormDialog } from '../../parts/form.tsx';
import { subscriptions } from '../../parts/sources.ts';
import { t } from '../../texts/en.ts';

/** Sends one event, as an application would. */
export function SendEvent({ subscriptionId, onClose }: { subscriptionId?: string; onClose: () => void }) {
  const transactionId = useMemo(() => `console-${crypto.randomUUID()}`, []);
  const metrics = useRead<{ billable_metrics: { code: string; name: string; field_name: string | null }[] }>(
    '/billable_metrics?per_page=100',
  );
  if (!metrics.data) return null;
  const options = metrics.data.billable_metrics.map(({ code, name }) => [code, `${name} (${code})`] as const);
  const first = metrics.data.billable_metrics[0];
  return (
    <FormDialog
      title={t.events.sendTitle}
      submit={t.events.send}
      onClose={onClose}
      fields={[
        {
          name: 'external_subscription_id',
          label: t.events.subscription,
          isNeeded: true,
          value: subscriptionId ?? '',
          from: subscriptions,
        },
        { name: 'code', label: t.events.metric, type: 'select', options, value: first?.code ?? '' },
        {
          name: 'properties',
          label: t.events.propertiesField,
          type: 'textarea',
          value: first?.field_name ? JSON.stringify({ [first.field_name]: 1 }) : '{}',
        },
        { name: 'transaction_id', label: t.events.transactionId, isNeeded: true, value: transactionId },
      ]}
      command={({ properties = '', ...event }) => ({
        method: 'POST',
        path: '/events',
        body: { event: { ...event, properties: parsed(properties) } },
      })}
    />
  );
}

/** What is no JSON goes out as it is typed, and the service says so. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
