import { to } from '../../frame/route.ts';
import type { Activity } from '../../parts/records.ts';
import { When } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';

/** Activities, newest first, each with the record that it is about. */
export function ActivityList({ activities }: { activities: readonly Activity[] }) {
  if (activities.length === 0) return <p class="soft">{t.logs.nothingHappened}</p>;
  return (
    <ul class="list card">
      {activities.map((activity) => (
        <li key={activity.activity_id}>
          <span class="what">
            {words(activity.activity_type)} <Subject of={activity} />
            {activity.external_customer_id && (
              <>
                {' · '}
                <a href={to('customers', activity.external_customer_id)}>{activity.external_customer_id}</a>
              </>
            )}
          </span>
          <span class="end soft">
            {BY[activity.activity_source] ?? activity.activity_source} · <When at={activity.logged_at} />
          </span>
        </li>
      ))}
    </ul>
  );
}

const BY: Record<string, string> = { api: t.logs.byApi, front: t.logs.byConsole, system: t.logs.byService };

/** `invoice.payment_overdue` as words. */
const words = (type: string): string => {
  const text = type.replace('.', ' ').replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
};

function Subject({ of: { resource_type, resource_id, activity_object } }: { of: Activity }) {
  const object = activity_object as { number?: string; code?: string; external_id?: string };
  if (resource_type === 'Invoice') return <a href={to('invoices', resource_id)}>{object.number ?? 'draft'}</a>;
  if (resource_type === 'Plan' && object.code) return <a href={to('plans', object.code)}>{object.code}</a>;
  if (resource_type === 'Subscription' && object.external_id)
    return <a href={to('subscriptions', object.external_id)}>{object.external_id}</a>;
  if (resource_type === 'BillableMetric' && object.code) return <a href={to('metrics', object.code)}>{object.code}</a>;
  return object.number ? <b>{object.number}</b> : object.code ? <b>{object.code}</b> : null;
}
