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
import { t } from '../../texts/en.ts';
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
      title={t.keys.title}
      under={t.keys.signedInWith(organization.value?.signed_in_as.last4)}
      actions={
        mayWrite && (
          <Action text={t.keys.newKey} isMain>
            {(close) => <NewKey onClose={close} onDone={show} />}
          </Action>
        )
      }
    >
      <Shown of={list}>
        {({ api_keys }) => (
          <Table
            label={t.keys.title}
            rows={api_keys}
            keyOf={({ svc_id }) => svc_id}
            columns={[
              { head: t.keys.name, cell: ({ name, last4 }) => name ?? t.keys.key(last4) },
              { head: t.keys.endsWith, cell: ({ last4 }) => <code>…{last4}</code> },
              {
                head: t.keys.may,
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
              { head: t.keys.lastUsed, cell: ({ last_used_at }) => <Ago at={last_used_at} />, isExtra: true },
              {
                head: t.keys.expires,
                cell: ({ expires_at }) => (expires_at ? <When at={expires_at} /> : 'never'),
                isExtra: true,
              },
              {
                head: t.keys.do,
                cell: (key) => (
                  <span class="actions">
                    <Offers
                      of={[
                        {
                          text: t.keys.rotate,
                          title: `Rotate the key …${key.last4}`,
                          needs: 'api_key',
                          about: t.keys.rotateAbout,
                          onDone: show,
                          command: () => ({ method: 'POST', path: `/api_keys/${key.svc_id}/rotate` }),
                        },
                        {
                          text: t.keys.end,
                          title: `End the key …${key.last4}`,
                          submit: t.keys.endKey,
                          needs: 'api_key',
                          typed: key.last4,
                          about: t.keys.endAbout,
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
      <Section title={t.keys.sessionsTitle}>
        <Sessions />
      </Section>
      {shown.value && (
        <Dialog
          title={t.keys.permissionsTitle(shown.value.last4)}
          onClose={() => {
            shown.value = undefined;
          }}
        >
          <Table
            label={t.keys.permissions}
            rows={Object.entries(shown.value.permissions)}
            keyOf={([resource]) => resource}
            columns={[
              { head: t.keys.resource, cell: ([resource]) => resource.replaceAll('_', ' ') },
              { head: t.keys.read, cell: ([, modes]) => (modes.includes('read') ? 'yes' : 'no') },
              { head: t.keys.write, cell: ([, modes]) => (modes.includes('write') ? 'yes' : 'no') },
            ]}
          />
        </Dialog>
      )}
      {made.value !== undefined && (
        <Dialog
          title={t.keys.newKeyTitle}
          onClose={() => {
            made.value = undefined;
          }}
        >
          <p>{t.keys.newKeyAbout}</p>
          <div class="curl">
            <pre>{made.value}</pre>
            <Copy text={made.value} label={t.keys.copyKey} />
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
  return writes === 0 ? t.keys.readsOnly(reads) : t.keys.readsAndWrites(reads, writes);
}

function NewKey({ onClose, onDone }: { onClose: () => void; onDone: (answer: unknown) => void }) {
  const own = organization.value?.permissions ?? {};
  return (
    <FormDialog
      title={t.keys.newKey}
      submit={t.keys.createKey}
      onClose={onClose}
      onDone={onDone}
      fields={[
        { name: 'name', label: t.keys.name, isNeeded: true, placeholder: t.keys.nameExample },
        {
          name: 'rights',
          label: t.keys.may,
          type: 'select',
          value: 'all',
          options: [
            ['all', t.keys.scopeSame],
            ['read', t.keys.scopeRead],
            ['events', t.keys.scopeEvents],
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
