import { useSignal } from '@preact/signals';
import { useRead } from '../../frame/use-read.ts';
import { Badge } from '../../parts/badge.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Listing } from '../../parts/listing.tsx';
import { Offers } from '../../parts/offers.tsx';
import { Shown } from '../../parts/states.tsx';
import { When } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';

const words = t.payments;

interface InboundEvent {
  svc_id: string;
  payment_provider_code: string;
  type: string;
  status: string;
  attempts: number;
  error: string | null;
  created_at: string;
}

/** What payment providers have told, and whether it was understood. */
export function Inbound() {
  const opened = useSignal<InboundEvent | undefined>(undefined);
  return (
    <>
      <Listing<InboundEvent>
        path="/inbound_events"
        root="inbound_events"
        label={words.inbound}
        columns={[
          {
            head: words.event,
            cell: (event) => (
              <button
                type="button"
                class="quiet small"
                onClick={() => {
                  opened.value = event;
                }}
              >
                {event.type}
              </button>
            ),
          },
          { head: words.connection, cell: (event) => event.payment_provider_code, isExtra: true },
          {
            head: words.state,
            cell: ({ status, error }) => (
              <>
                <Badge of={status} />
                {error && <span class="second">{error}</span>}
              </>
            ),
          },
          { head: words.received, cell: (event) => <When at={event.created_at} /> },
          {
            head: t.page.do,
            cell: ({ svc_id, status }) => (
              <Offers
                isSmall
                of={[
                  status === 'failed' && {
                    text: words.handleAgain,
                    needs: 'payment_provider',
                    about: words.handleAgainAbout,
                    command: () => ({ method: 'POST', path: `/inbound_events/${svc_id}/retry` }),
                  },
                ]}
              />
            ),
          },
        ]}
        empty={{ title: words.noInbound, children: <p class="soft">{words.noInboundHint}</p> }}
      />
      {opened.value && (
        <Dialog
          title={opened.value.type}
          onClose={() => {
            opened.value = undefined;
          }}
        >
          <Whole id={opened.value.svc_id} />
        </Dialog>
      )}
    </>
  );
}

/** The event as the provider sent it. */
function Whole({ id }: { id: string }) {
  const reading = useRead<{ inbound_event: { payload: object } }>(`/inbound_events/${id}`);
  return (
    <Shown of={reading}>
      {({ inbound_event }) => <pre class="json">{JSON.stringify(inbound_event.payload, null, 2)}</pre>}
    </Shown>
  );
}
