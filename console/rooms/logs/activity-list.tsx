import { to } from '../../frame/route.ts';
import { money } from '../../parts/amounts.ts';
import { CustomerLink, CustomerNames, useCustomerNames } from '../../parts/customer-names.tsx';
import type { Activity } from '../../parts/records.ts';
import { Empty } from '../../parts/states.tsx';
import { When } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';

/** Activities, newest first, each with the record that it is about. */
export function ActivityList({ activities }: { activities: readonly Activity[] }) {
  const names = useCustomerNames(activities.map(({ external_customer_id }) => external_customer_id));
  if (activities.length === 0)
    return (
      <Empty title={t.logs.nothingHappened}>
        <p class="soft">{t.logs.nothingHappenedHint}</p>
      </Empty>
    );
  return (
    <CustomerNames.Provider value={names}>
      <ul class="list card">
        {activities.map((activity) => (
          <li key={activity.activity_id}>
            <span class="what">
              {words(activity.activity_type)} <Subject of={activity} />
              {activity.external_customer_id && (
                <>
                  {' · '}
                  <CustomerLink id={activity.external_customer_id} />
                </>
              )}
            </span>
            <span class="end soft">
              {BY[activity.activity_source] ?? activity.activity_source} · <When at={activity.logged_at} />
            </span>
          </li>
        ))}
      </ul>
    </CustomerNames.Provider>
  );
}

const BY: Record<string, string> = { api: t.logs.byApi, front: t.logs.byConsole, system: t.logs.byService };

/** `invoice.payment_overdue` as words. */
const words = (type: string): string => {
  const text = type.replace('.', ' ').replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
};

/** Rooms in which a record stands under its id, or under its code. */
const ROOM_OF_ID: Record<string, string> = {
  Invoice: 'invoices',
  CreditNote: 'credit-notes',
  Payment: 'payments',
  Wallet: 'wallets',
  Quote: 'quotes',
};
const ROOM_OF_CODE: Record<string, string> = {
  Plan: 'plans',
  BillableMetric: 'metrics',
  Coupon: 'coupons',
  Feature: 'features',
  AddOn: 'add-ons',
};

function Subject({ of: { resource_type, resource_id, activity_object } }: { of: Activity }) {
  const { number, code, external_id, name, amount_cents, amount_currency } = activity_object as {
    amount_cents?: number;
  } & Record<string, string | undefined>;
  // A payment has no number of its own.
  const amount = amount_cents === undefined ? undefined : money(amount_cents, amount_currency);
  const room = ROOM_OF_ID[resource_type];
  if (room !== undefined)
    return <a href={to(room, resource_id)}>{number ?? name ?? code ?? amount ?? t.logs.openRecord}</a>;
  if (resource_type === 'Subscription' && external_id)
    return <a href={to('subscriptions', external_id)}>{external_id}</a>;
  if (ROOM_OF_CODE[resource_type] !== undefined && code)
    return <a href={to(ROOM_OF_CODE[resource_type], code)}>{code}</a>;
  return number ? <b>{number}</b> : code ? <b>{code}</b> : null;
}
