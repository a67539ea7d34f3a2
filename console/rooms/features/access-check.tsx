import { useSignal } from '@preact/signals';
import { ApiError, ask } from '../../frame/api.ts';
import { decimal } from '../../parts/amounts.ts';
import { Badge } from '../../parts/badge.tsx';
import { CurlLine } from '../../parts/curl-line.tsx';
import { FieldInput } from '../../parts/field.tsx';
import { subscriptions } from '../../parts/sources.ts';
import { Failure } from '../../parts/states.tsx';
import { t } from '../../texts/en.ts';

const words = t.features;

interface Access {
  allowed: boolean;
  reasons: string[];
  entitlement: { granted: boolean; privileges: Record<string, unknown> } | null;
  usage: { billable_metric_code: string; period: string; limit: string; used: string }[] | null;
}

/** May this subscription use the feature now? Asked as an application asks. */
export function AccessCheck({ featureCode, subscriptionId }: { featureCode: string; subscriptionId?: string }) {
  const subscription = useSignal(subscriptionId ?? '');
  const answer = useSignal<Access | undefined>(undefined);
  const error = useSignal<ApiError | undefined>(undefined);
  const body = { external_subscription_id: subscription.value.trim(), feature_code: featureCode };
  const check = async (event: Event) => {
    event.preventDefault();
    error.value = undefined;
    try {
      answer.value = (await ask<{ access: Access }>('/access/check', { access: body })).access;
    } catch (caught) {
      if (!(caught instanceof ApiError)) throw caught;
      answer.value = undefined;
      error.value = caught;
    }
  };
  return (
    <form class="card padded" onSubmit={(event) => void check(event)}>
      <FieldInput
        field={{ name: 'subscription', label: words.subscription, isNeeded: true, from: subscriptions }}
        value={subscription.value}
        onInput={(text) => {
          subscription.value = text;
        }}
      />
      <p class="bar">
        <button type="submit">{words.ask}</button>
      </p>
      {error.value && <Failure error={error.value} />}
      {answer.value && (
        <div role="status">
          <p>
            <Badge of="access" tone={answer.value.allowed ? 'good' : 'bad'}>
              {answer.value.allowed ? words.allowed : words.denied}
            </Badge>{' '}
            {answer.value.reasons.map((reason) => reason.replaceAll('_', ' ')).join(', ')}
          </p>
          <ul class="prose">
            {Object.entries(answer.value.entitlement?.privileges ?? {}).map(([code, value]) => (
              <li key={code}>
                {code}: {String(value)}
              </li>
            ))}
            {(answer.value.usage ?? []).map((each) => (
              <li key={each.billable_metric_code}>
                {words.used(each.billable_metric_code, decimal(each.used), decimal(each.limit))}
              </li>
            ))}
          </ul>
        </div>
      )}
      <CurlLine request={{ method: 'POST', path: '/access/check', body: { access: body } }} />
    </form>
  );
}
