import { useSignal } from '@preact/signals';
import { can } from '../../frame/session.ts';
import { useRead } from '../../frame/use-read.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Empty, Shown } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { When } from '../../parts/times.tsx';

interface Mail {
  to: string[];
  subject: string;
  text: string;
  attachments: { file_name: string; file_url: string }[];
  created_at: string;
}

/** Mails that a sandbox keeps instead of sending them. */
export function Mails() {
  const opened = useSignal<Mail | undefined>(undefined);
  const list = useRead<{ mails: Mail[] }>(can('payment') ? '/sandbox/mails?per_page=50' : null);
  return (
    <Shown of={list}>
      {({ mails }) =>
        mails.length === 0 ? (
          <Empty title="No mail yet">
            <p class="soft">A sandbox sends no mail; what it would have sent is kept here.</p>
          </Empty>
        ) : (
          <>
            <Table
              label="Mails"
              rows={mails}
              keyOf={(mail) => `${mail.created_at} ${mail.to.join()} ${mail.subject}`}
              columns={[
                {
                  head: 'Subject',
                  cell: (mail) => (
                    <button
                      type="button"
                      class="quiet small"
                      onClick={() => {
                        opened.value = mail;
                      }}
                    >
                      {mail.subject}
                    </button>
                  ),
                },
                { head: 'To', cell: (mail) => mail.to.join(', ') },
                { head: 'Made', cell: ({ created_at }) => <When at={created_at} />, isExtra: true },
              ]}
            />
            {opened.value && (
              <Dialog
                title={opened.value.subject}
                onClose={() => {
                  opened.value = undefined;
                }}
              >
                <p class="soft">To {opened.value.to.join(', ')}</p>
                <pre class="json">{opened.value.text}</pre>
              </Dialog>
            )}
          </>
        )
      }
    </Shown>
  );
}
