import { useSignal } from '@preact/signals';
import { ApiError, read } from '../../frame/api.ts';
import { to } from '../../frame/route.ts';
import { can } from '../../frame/session.ts';
import { useRead } from '../../frame/use-read.ts';
import { Copy } from '../../parts/copy.tsx';
import { type Offer, Offers } from '../../parts/offers.tsx';
import { Section } from '../../parts/page.tsx';
import { Failure, Shown } from '../../parts/states.tsx';
import { When } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';

const words = t.settings.webhookKeys;

interface HmacKey {
  webhook: { hmac_key: string; former_expires_at: string | null };
}

/** By what receivers tell that a webhook is ours. */
export function WebhookKeys() {
  return (
    <>
      {can('webhook_endpoint', 'write') && <Secret />}
      {can('webhook_jwt_public_key') && <PublicKeys />}
      <p class="section">
        <a href={to('webhooks')}>{words.endpoints}</a>
      </p>
    </>
  );
}

/** The secret is read when it is asked for, not with the page. */
function Secret() {
  const key = useSignal<HmacKey['webhook'] | undefined>(undefined);
  const error = useSignal<ApiError | undefined>(undefined);
  const show = async () => {
    try {
      key.value = (await read<HmacKey>('/webhooks/hmac_key')).webhook;
      error.value = undefined;
    } catch (caught) {
      if (!(caught instanceof ApiError)) throw caught;
      error.value = caught;
    }
  };
  const rotates: Offer = {
    text: words.rotate,
    needs: 'webhook_endpoint',
    typed: t.typed.rotate,
    about: words.rotateAbout,
    fields: [{ name: 'expires_in_hours', label: words.overlap, type: 'number', value: '24', hint: words.overlapHint }],
    command: ({ expires_in_hours: hours = '' }) => ({
      method: 'POST',
      path: '/webhooks/hmac_key/rotate',
      body: { expires_in_hours: /^\d{1,4}$/.test(hours) ? Number(hours) : hours },
    }),
    onDone: (answer) => {
      key.value = (answer as unknown as HmacKey).webhook;
    },
  };
  return (
    <Section title={words.hmac}>
      <div class="card padded">
        <p class="soft">{words.hmacAbout}</p>
        {error.value && <Failure error={error.value} />}
        {key.value && (
          <div class="curl">
            <pre>{key.value.hmac_key}</pre>
            <Copy text={key.value.hmac_key} label={words.copyHmac} />
          </div>
        )}
        {key.value?.former_expires_at && (
          <p class="soft">
            {words.formerUntil} <When at={key.value.former_expires_at} />
          </p>
        )}
        <p class="bar">
          {!key.value && (
            <button type="button" onClick={() => void show()}>
              {words.show}
            </button>
          )}
          <Offers of={[rotates]} />
        </p>
      </div>
    </Section>
  );
}

function PublicKeys() {
  const reading = useRead<{ public_keys: { kid: string; public_key: string }[] }>('/webhooks/json_public_key');
  return (
    <Section title={words.jwt}>
      <p class="soft">{words.jwtAbout}</p>
      <Shown of={reading} rows={4}>
        {({ public_keys }) => (
          <>
            {public_keys.map(({ kid, public_key }) => (
              <div class="card padded" key={kid}>
                <p>
                  {words.kid} <code>{kid}</code>
                </p>
                <div class="curl">
                  <pre>{atob(public_key)}</pre>
                  <Copy text={atob(public_key)} label={words.copyPublic} />
                </div>
              </div>
            ))}
          </>
        )}
      </Shown>
    </Section>
  );
}
