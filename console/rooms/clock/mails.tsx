import { useSignal } from '@preact/signals';
import { can } from '../../frame/session.ts';
import { useRead } from '../../frame/use-read.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Empty, Shown } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { When } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';

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
          <Empty title={t.clock.noMails}>
            <p class="soft">{t.clock.noMailsHint}</p>
          </Empty>
        ) : (
          <>
            <Table
              label={t.clock.mails}
              rows={mails}
              keyOf={(mail) => `${mail.created_at} ${mail.to.join()} ${mail.subject}`}
              columns={[
                {
                  head: t.clock.subject,
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
                { head: t.clock.recipientHead, cell: (mail) => mail.to.join(', ') },
                { head: t.clock.made, cell: ({ created_at }) => <When at={created_at} />, isExtra: true },
              ]}
            />
            {opened.value && (
              <Dialog
                title={opened.value.subject}
                onClose={() => {
                  opened.value = undefined;
                }}
              >
                <p class="soft">
                  {t.clock.recipientLine}
                  {opened.value.to.join(', ')}
                </p>
                <pre class="json">{opened.value.text}</pre>
              </Dialog>
            )}
          </>
        )
      }
    </Shown>
  );
}
