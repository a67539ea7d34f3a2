import { route, setFilters, to } from '../../frame/route.ts';
import { Badge } from '../../parts/badge.tsx';
import { Listing } from '../../parts/listing.tsx';
import { type Offer, Offers } from '../../parts/offers.tsx';
import { RecordFilter } from '../../parts/record-filter.tsx';
import { customers } from '../../parts/sources.ts';
import { Choices } from '../../parts/table.tsx';
import { When } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';
import type { Mail } from './records.ts';

const words = t.mails;

/** What was mailed, newest first. */
export function Log() {
  const { query } = route.value;
  const [status, template] = [query.get('status'), query.get('template')];
  return (
    <>
      <div class="bar">
        <Choices label={words.state} name="status" options={[['', t.list.all], ...Object.entries(words.states)]} />
        <select
          class="narrow"
          aria-label={words.kind}
          value={template ?? ''}
          onChange={(event) => setFilters({ template: event.currentTarget.value })}
        >
          <option value="">{words.everyKind}</option>
          {Object.entries(words.kinds).map(([name, text]) => (
            <option key={name} value={name}>
              {text}
            </option>
          ))}
        </select>
        <RecordFilter label={words.customer} name="customer" from={customers} />
      </div>
      <Listing<Mail>
        path="/mails"
        root="mails"
        isUncounted
        everySeconds={30}
        filters={{
          external_customer_id: query.get('customer'),
          ...(status ? { statuses: [status] } : {}),
          ...(template ? { templates: [template] } : {}),
        }}
        label={words.title}
        columns={[
          {
            head: words.subject,
            cell: (mail) => (
              <>
                {mail.subject}
                {mail.error && <span class="second">{mail.error}</span>}
              </>
            ),
          },
          { head: words.state, cell: ({ status: of }) => <MailBadge of={of} /> },
          { head: words.kind, cell: ({ template: name }) => kindOf(name), isExtra: true },
          {
            head: words.to,
            cell: ({ recipients }) => recipients.map(({ address }) => address).join(', '),
            isExtra: true,
          },
          { head: words.when, cell: ({ sent_at, created_at }) => <When at={sent_at ?? created_at} /> },
          { head: t.page.do, cell: (mail) => <Offers isSmall of={[retries(mail)]} />, isExtra: true },
        ]}
        href={({ svc_id }) => to('mails', svc_id)}
        empty={{ title: words.none, children: <p class="soft">{words.noneHint}</p> }}
      />
    </>
  );
}

export const kindOf = (template: string | null): string =>
  template === null ? words.noKind : (words.kinds[template] ?? template);

export const MailBadge = ({ of }: { of: string }) => <Badge of={of}>{(words.states[of] ?? of).toLowerCase()}</Badge>;

/** What did not go out is tried again. */
export const retries = ({ svc_id, status }: Mail): Offer | false =>
  (status === 'failed' || status === 'unsent') && {
    text: words.retry,
    needs: 'mail',
    about: words.retryAbout,
    command: () => ({ method: 'POST', path: `/mails/${svc_id}/retry` }),
  };
