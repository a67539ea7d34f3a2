import { go, to } from '../../frame/route.ts';
import { useRead } from '../../frame/use-read.ts';
import { FormDialog } from '../../parts/form.tsx';
import { plans as allPlans } from '../../parts/sources.ts';
import { Loading } from '../../parts/states.tsx';
import { t } from '../../texts/en.ts';

/** Subscribes a customer to a plan, or changes the plan of a subscription. */
export function SubscribeForm({
  customerId,
  subscriptionId,
  onClose,
}: {
  customerId: string;
  subscriptionId?: string;
  onClose: () => void;
}) {
  const plans = useRead<{ plans: { code: string; name: string }[] }>('/plans?per_page=1');
  if (!plans.data) return <Loading rows={1} />;
  const first = plans.data.plans[0];
  return (
    <FormDialog
      title={subscriptionId === undefined ? t.subscriptions.subscribeTitle : t.subscriptions.changePlanTitle}
      submit={subscriptionId === undefined ? t.subscriptions.subscribe : t.subscriptions.change}
      onClose={onClose}
      onDone={(answer) => {
        const made = (answer as { subscription?: { external_id: string } }).subscription;
        if (made) go(to('subscriptions', made.external_id));
      }}
      fields={[
        {
          name: 'plan_code',
          label: t.subscriptions.plan,
          isNeeded: true,
          value: first?.code ?? '',
          called: first?.name,
          from: allPlans,
        },
        ...(subscriptionId === undefined
          ? [
              {
                name: 'external_id',
                label: t.subscriptions.externalId,
                isNeeded: true,
                value: `${customerId}-1`,
                hint: t.subscriptions.externalIdHint,
              },
            ]
          : []),
      ]}
      command={({ plan_code, external_id }) => ({
        method: 'POST',
        path: '/subscriptions',
        body: {
          subscription: {
            external_customer_id: customerId,
            plan_code,
            external_id: subscriptionId ?? external_id,
          },
        },
      })}
    >
      {subscriptionId !== undefined && <p class="soft">{t.subscriptions.changePlanAbout}</p>}
    </FormDialog>
  );
}
