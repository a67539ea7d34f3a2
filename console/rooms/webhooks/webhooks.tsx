import { go, route, searchOf, to } from '../../frame/route.ts';
import { can } from '../../frame/session.ts';
import { useRead } from '../../frame/use-read.ts';
import { Badge } from '../../parts/badge.tsx';
import { Action, FormDialog } from '../../parts/form.tsx';
import { Offers } from '../../parts/offers.tsx';
import { Facts, Page, Section } from '../../parts/page.tsx';
import { Empty, Shown } from '../../parts/states.tsx';
import { type PageMeta, Pager, Table } from '../../parts/table.tsx';
import { When } from '../../parts/times.tsx';
import { Deliveries, type Delivery } from './deliveries.tsx';

export interface Endpoint {
  svc_id: string;
  webhook_url: string;
  signature_algo: string;
  name: string | null;
  event_types: string[] | null;
  status: string;
  disabled_at: string | null;
  disabled_reason: string | null;
  created_at: string;
}

export default function Webhooks() {
  const { id } = route.value;
  return id === undefined ? <List /> : <EndpointPage key={id} id={id} />;
}

/** Did we tell them? */
function List() {
  const list = useRead<{ webhook_endpoints: Endpoint[]; meta: PageMeta }>(
    `/webhook_endpoints${searchOf({ per_page: 25, page: route.value.query.get('page') ?? 1 })}`,
  );
  return (
    <Page
      title="Webhooks"
      under="Where your systems hear what happens here."
      actions={
        can('webhook_endpoint', 'write') && (
          <Action text="New endpoint" isMain>
            {(close) => <EndpointForm onClose={close} />}
          </Action>
        )
      }
    >
      <Shown of={list}>
        {({ webhook_endpoints, meta }) =>
          webhook_endpoints.length === 0 ? (
            <Empty title="No endpoint yet">
              <p class="soft">An endpoint gets a signed message for each invoice, payment and alert.</p>
            </Empty>
          ) : (
            <>
              <Table
                label="Endpoints"
                rows={webhook_endpoints}
                keyOf={({ svc_id }) => svc_id}
                href={({ svc_id }) => to('webhooks', svc_id)}
                columns={[
                  { head: 'Address', cell: ({ name, webhook_url }) => name ?? webhook_url },
                  { head: 'State', cell: ({ status }) => <Badge of={status === 'enabled' ? 'active' : status} /> },
                  {
                    head: 'Hears of',
                    cell: ({ event_types }) => (event_types ? `${event_types.length} types` : 'everything'),
                    isExtra: true,
                  },
                  { head: 'Signed by', cell: ({ signature_algo }) => signature_algo, isExtra: true },
                  { head: 'Since', cell: ({ created_at }) => <When at={created_at} />, isExtra: true },
                ]}
              />
              <Pager meta={meta} />
            </>
          )
        }
      </Shown>
    </Page>
  );
}

function EndpointPage({ id }: { id: string }) {
  const path = `/webhook_endpoints/${encodeURIComponent(id)}`;
  const reading = useRead<{ webhook_endpoint: Endpoint }>(path);
  const status = route.value.query.get('status');
  const deliveries = useRead<{ webhooks: Delivery[]; meta: PageMeta }>(
    `${path}/webhooks${searchOf({ per_page: 25, page: route.value.query.get('page') ?? 1, status })}`,
  );
  return (
    <Shown of={reading}>
      {({ webhook_endpoint: endpoint }) => (
        <Page
          title={endpoint.name ?? endpoint.webhook_url}
          badge={<Badge of={endpoint.status === 'enabled' ? 'active' : endpoint.status} />}
          back={{ href: to('webhooks'), text: 'Webhooks' }}
          under={endpoint.name ? endpoint.webhook_url : undefined}
          actions={
            <>
              <Offers
                of={[
                  {
                    text: 'Send a test',
                    submit: 'Send',
                    needs: 'webhook_endpoint',
                    about: 'The endpoint gets a message of the type that tests have; it shows in the log below.',
                    command: () => ({ method: 'POST', path: `${path}/test` }),
                  },
                ]}
              />
              {can('webhook_endpoint', 'write') && (
                <Action text="Edit">{(close) => <EndpointForm endpoint={endpoint} onClose={close} />}</Action>
              )}
              <Offers
                of={[
                  {
                    text: 'Delete',
                    title: 'Delete the endpoint',
                    needs: 'webhook_endpoint',
                    typed: 'delete',
                    about: 'It hears of nothing any more. What waits for it is dropped.',
                    onDone: () => go(to('webhooks')),
                    command: () => ({ method: 'DELETE', path }),
                  },
                ]}
              />
            </>
          }
        >
          <div class="card padded">
            <Facts
              of={[
                ['Signed by', endpoint.signature_algo],
                ['Hears of', endpoint.event_types?.join(', ') ?? 'everything'],
                ['Since', <When at={endpoint.created_at} />],
                ...(endpoint.disabled_at
                  ? [
                      ['Disabled', <When at={endpoint.disabled_at} />] as const,
                      ['Why', endpoint.disabled_reason] as const,
                    ]
                  : []),
              ]}
            />
          </div>
          <Section title="Deliveries">
            <Deliveries list={deliveries} />
          </Section>
        </Page>
      )}
    </Shown>
  );
}

function EndpointForm({ endpoint, onClose }: { endpoint?: Endpoint; onClose: () => void }) {
  return (
    <FormDialog
      title={endpoint ? 'Edit the endpoint' : 'New endpoint'}
      submit={endpoint ? 'Save' : 'Create endpoint'}
      onClose={onClose}
      fields={[
        {
          name: 'webhook_url',
          label: 'Address',
          isNeeded: true,
          value: endpoint?.webhook_url ?? '',
          placeholder: 'https://example.com/hooks',
        },
        { name: 'name', label: 'Name', value: endpoint?.name ?? '' },
        {
          name: 'signature_algo',
          label: 'Signed by',
          type: 'select',
          value: endpoint?.signature_algo ?? 'hmac',
          options: [
            ['hmac', 'hmac: a key that both know'],
            ['jwt', 'jwt: our public key'],
          ],
        },
      ]}
      command={({ name, ...sent }) => ({
        method: endpoint ? 'PUT' : 'POST',
        path: endpoint ? `/webhook_endpoints/${endpoint.svc_id}` : '/webhook_endpoints',
        body: { webhook_endpoint: { ...sent, name: name === '' ? null : name } },
      })}
    />
  );
}
