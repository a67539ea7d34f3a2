import { useSignal } from '@preact/signals';
import { can, organization } from '../../frame/session.ts';
import { useRead } from '../../frame/use-read.ts';
import { Copy } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Action, FormDialog } from '../../parts/form.tsx';
import { Offers } from '../../parts/offers.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { Shown } from '../../parts/states.tsx';
import { type PageMeta, Table } from '../../parts/table.tsx';
import { Ago, When } from '../../parts/times.tsx';
import { Sessions } from './sessions.tsx';

interface Key {
  svc_id: string;
  name: string | null;
  last4: string;
  permissions: Record<string, string[]>;
  expires_at: string | null;
  last_used_at: string | null;
  created_at: string;
}

/** Who may do what? */
export default function Keys() {
  const list = useRead<{ api_keys: Key[]; meta: PageMeta }>('/api_keys?per_page=100');
  const made = useSignal<string | undefined>(undefined);
  const shown = useSignal<Key | undefined>(undefined);
  const mayWrite = can('api_key', 'write');
  const show = (answer: unknown) => {
    made.value = (answer as { api_key?: { value?: string } }).api_key?.value;
  };
  return (
    <Page
      title="API keys"
      under={`You are signed in with the key …${organization.value?.signed_in_as.last4}.`}
      actions={
        mayWrite && (
          <Action text="New key" isMain>
            {(close) => <NewKey onClose={close} onDone={show} />}
          </Action>
        )
      }
    >
      <Shown of={list}>
        {({ api_keys }) => (
          <Table
            label="API keys"
            rows={api_keys}
            keyOf={({ svc_id }) => svc_id}
            columns={[
              { head: 'Name', cell: ({ name, last4 }) => name ?? `Key …${last4}` },
              { head: 'Ends with', cell: ({ last4 }) => <code>…{last4}</code> },
              {
                head: 'May',
                cell: (key) => (
                  <button
                    type="button"
                    class="quiet small"
                    onClick={() => {
                      shown.value = key;
                    }}
                  >
                    {rightsOf(key)}
                  </button>
                ),
              },
              { head: 'Last used', cell: ({ last_used_at }) => <Ago at={last_used_at} />, isExtra: true },
              {
                head: 'Expires',
                cell: ({ expires_at }) => (expires_at ? <When at={expires_at} /> : 'never'),
                isExtra: true,
              },
              {
                head: 'Do',
                cell: (key) => (
                  <span class="actions">
                    <Offers
                      of={[
                        {
                          text: 'Rotate',
                          title: `Rotate the key …${key.last4}`,
                          needs: 'api_key',
                          about: 'A new key takes its place; the old one ends now, with the sessions that it opened.',
                          onDone: show,
                          command: () => ({ method: 'POST', path: `/api_keys/${key.svc_id}/rotate` }),
                        },
                        {
                          text: 'End',
                          title: `End the key …${key.last4}`,
                          submit: 'End it',
                          needs: 'api_key',
                          typed: key.last4,
                          about: 'Whoever uses it is refused from now on. This cannot be taken back.',
                          command: () => ({ method: 'DELETE', path: `/api_keys/${key.svc_id}` }),
                        },
                      ]}
                    />
                  </span>
                ),
              },
            ]}
          />
        )}
      </Shown>
      <Section title="Signed in to the console">
        <Sessions />
      </Section>
      {shown.value && (
        <Dialog
          title={`What the key …${shown.value.last4} may do`}
          onClose={() => {
            shown.value = undefined;
          }}
        >
          <Table
            label="Permissions"
            rows={Object.entries(shown.value.permissions)}
            keyOf={([resource]) => resource}
            columns={[
              { head: 'Resource', cell: ([resource]) => resource.replaceAll('_', ' ') },
              { head: 'Read', cell: ([, modes]) => (modes.includes('read') ? 'yes' : 'no') },
              { head: 'Write', cell: ([, modes]) => (modes.includes('write') ? 'yes' : 'no') },
            ]}
          />
        </Dialog>
      )}
      {made.value !== undefined && (
        <Dialog
          title="Your new key"
          onClose={() => {
            made.value = undefined;
          }}
        >
          <p>Copy it now: it is shown this once, and only its digest is kept.</p>
          <div class="curl">
            <pre>{made.value}</pre>
            <Copy text={made.value} label="Copy the key" />
          </div>
        </Dialog>
      )}
    </Page>
  );
}

function rightsOf({ permissions }: Key): string {
  const all = Object.values(permissions);
  const writes = all.filter((modes) => modes.includes('write')).length;
  const reads = all.filter((modes) => modes.includes('read')).length;
  return writes === 0 ? `read ${reads} resources` : `read ${reads}, write ${writes} resources`;
}

function NewKey({ onClose, onDone }: { onClose: () => void; onDone: (answer: unknown) => void }) {
  const own = organization.value?.permissions ?? {};
  return (
    <FormDialog
      title="New key"
      submit="Create key"
      onClose={onClose}
      onDone={onDone}
      fields={[
        { name: 'name', label: 'Name', isNeeded: true, placeholder: 'Shop, production' },
        {
          name: 'rights',
          label: 'May',
          type: 'select',
          value: 'all',
          options: [
            ['all', 'do what my key may do'],
            ['read', 'read what my key may read'],
            ['events', 'send and read events only'],
          ],
        },
      ]}
      command={({ name, rights }) => ({
        method: 'POST',
        path: '/api_keys',
        body: { api_key: { name, permissions: permissionsOf(own, rights) } },
      })}
    />
  );
}

function permissionsOf(own: Record<string, string[]>, rights: string | undefined): Record<string, string[]> {
  if (rights === 'events') return { event: own.event ?? [] };
  const entries = Object.entries(own).filter(([, modes]) => modes.length > 0);
  if (rights === 'all') return Object.fromEntries(entries);
  return Object.fromEntries(entries.filter(([, modes]) => modes.includes('read')).map(([name]) => [name, ['read']]));
}
