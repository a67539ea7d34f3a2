import { can } from '../../frame/session.ts';
import { useRead } from '../../frame/use-read.ts';
import { Badge } from '../../parts/badge.tsx';
import { CommandForm, type Values } from '../../parts/form.tsx';
import { type Offer, Offers } from '../../parts/offers.tsx';
import { Facts, Section } from '../../parts/page.tsx';
import { Empty, Loading, Shown } from '../../parts/states.tsx';
import { t } from '../../texts/en.ts';
import { EntityChoice } from './entity-choice.tsx';
import { useEntity } from './records.ts';
import { Sending } from './sending.tsx';

const words = t.mails;

interface Sender {
  from_name: string | null;
  from_address: string | null;
  reply_to: string | null;
  bcc_issuer: boolean;
  status: 'default' | 'unverified' | 'verified';
}

/** Who mails come from, and which are sent, one billing entity at a time. */
export function Senders() {
  const { code } = useEntity();
  if (!can('billing_entity')) return <Empty title={words.noEntity} />;
  if (code === undefined) return <Loading rows={8} />;
  return (
    <>
      <div class="bar">
        <EntityChoice />
      </div>
      <SenderOf key={`sender ${code}`} code={code} />
      <Sending key={`sending ${code}`} code={code} />
    </>
  );
}

const valuesOf = (sender: Sender): Values => ({
  from_name: sender.from_name ?? '',
  from_address: sender.from_address ?? '',
  reply_to: sender.reply_to ?? '',
  bcc_issuer: String(sender.bcc_issuer),
});

const orNull = (text: string | undefined): string | null => (text?.trim() ? text.trim() : null);

function SenderOf({ code }: { code: string }) {
  const path = `/billing_entities/${encodeURIComponent(code)}/mail_sender`;
  const reading = useRead<{ mail_sender: Sender }>(path);
  return (
    <Shown of={reading} rows={5}>
      {({ mail_sender: sender }) => (
        <Section
          title={words.sender}
          more={
            <Badge
              of={sender.status}
              tone={sender.status === 'verified' ? 'good' : sender.status === 'unverified' ? 'wait' : 'plain'}
            >
              {words.senderStates[sender.status]!}
            </Badge>
          }
        >
          <div class="card padded wide-form">
            <p class="soft">{words.senderAbout[sender.status]}</p>
            {sender.status === 'unverified' && <Verification sender={sender} path={path} />}
            {can('mail', 'write') ? (
              <CommandForm
                submit={t.page.save}
                fields={[
                  { name: 'from_name', label: words.fromName, value: sender.from_name ?? '', hint: words.legalName },
                  {
                    name: 'from_address',
                    label: words.fromAddress,
                    type: 'email',
                    value: sender.from_address ?? '',
                    hint: words.deploymentAddress,
                  },
                  {
                    name: 'reply_to',
                    label: words.replyTo,
                    type: 'email',
                    value: sender.reply_to ?? '',
                    hint: words.entityAddress,
                  },
                  {
                    name: 'bcc_issuer',
                    label: words.bccIssuer,
                    type: 'checkbox',
                    value: String(sender.bcc_issuer),
                  },
                ]}
                stored={{ path, valuesOf: (answer: { mail_sender: Sender }) => valuesOf(answer.mail_sender) }}
                command={(values) => ({ method: 'PUT', path, body: { mail_sender: changesOf(values, sender) } })}
              />
            ) : (
              <Facts
                of={[
                  [words.fromName, sender.from_name],
                  [words.fromAddress, sender.from_address],
                  [words.replyTo, sender.reply_to],
                ]}
              />
            )}
          </div>
        </Section>
      )}
    </Shown>
  );
}

/** An address that stays is not sent, because one that waits for its code would get another. */
function changesOf(values: Values, stored: Sender) {
  const address = orNull(values.from_address);
  return {
    from_name: orNull(values.from_name),
    ...(address === stored.from_address ? {} : { from_address: address }),
    reply_to: orNull(values.reply_to),
    bcc_issuer: values.bcc_issuer === 'true',
  };
}

function Verification({ sender, path }: { sender: Sender; path: string }) {
  return (
    <p class="bar">
      <Offers of={[verifies(sender, path), asksAgain(sender, path)]} />
    </p>
  );
}

const verifies = ({ from_address }: Sender, path: string): Offer => ({
  text: words.verify,
  needs: 'mail',
  isMain: true,
  about: words.verifyAbout(from_address ?? ''),
  fields: [{ name: 'code', label: words.code, isNeeded: true }],
  command: ({ code }) => ({ method: 'POST', path: `${path}/verify`, body: { mail_sender: { code: code?.trim() } } }),
});

const asksAgain = ({ from_address }: Sender, path: string): Offer => ({
  text: words.newCode,
  needs: 'mail',
  about: words.newCodeAbout,
  command: () => ({ method: 'PUT', path, body: { mail_sender: { from_address } } }),
});
