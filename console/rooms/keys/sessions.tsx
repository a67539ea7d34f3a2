import { useRead } from '../../frame/use-read.ts';
import { agentWords } from '../../parts/agent.ts';
import { Offers } from '../../parts/offers.tsx';
import { Shown } from '../../parts/states.tsx';
import { type PageMeta, Table } from '../../parts/table.tsx';
import { Ago, When } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';

interface ConsoleSession {
  svc_id: string;
  kind: string;
  api_key_last4: string | null;
  user_agent: string | null;
  remote_address: string;
  created_at: string;
  last_seen_at: string;
  expires_at: string;
}

/** Browsers that are signed in for this organization. */
export function Sessions() {
  const list = useRead<{ console_sessions: ConsoleSession[]; meta: PageMeta }>('/console_sessions?per_page=100');
  return (
    <Shown of={list}>
      {({ console_sessions }) => (
        <Table
          label={t.keys.sessions}
          rows={console_sessions}
          keyOf={({ svc_id }) => svc_id}
          columns={[
            { head: t.keys.browser, cell: ({ user_agent }) => agentWords(user_agent) },
            { head: t.keys.address, cell: ({ remote_address }) => <code>{remote_address}</code> },
            { head: t.keys.sessionKey, cell: ({ api_key_last4 }) => <code class="short">…{api_key_last4}</code> },
            { head: t.keys.lastSeen, cell: ({ last_seen_at }) => <Ago at={last_seen_at} /> },
            { head: t.keys.ends, cell: ({ expires_at }) => <When at={expires_at} />, isExtra: true },
            {
              head: t.keys.do,
              cell: ({ svc_id }) => (
                <Offers
                  of={[
                    {
                      text: t.keys.signOut,
                      title: t.keys.signOutTitle,
                      needs: 'api_key',
                      about: t.keys.signOutAbout,
                      command: () => ({ method: 'DELETE', path: `/console_sessions/${svc_id}` }),
                    },
                  ]}
                />
              ),
            },
          ]}
        />
      )}
    </Shown>
  );
}
