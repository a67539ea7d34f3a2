import type { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../platform/context.ts';
import { isUuid } from '../../../platform/ids.ts';
import { publicUrl } from '../../../platform/public-url.ts';
import { getDefaultBillingEntity } from '../../customers/billing-entities/queries.ts';
import { mailAddressesOf } from '../../customers/customers/mail-addressee.ts';
import { formatOf } from '../../messaging/documents/number-and-date-formats.ts';
import { languageOf } from '../../messaging/documents/texts/by-locale.ts';
import type { MailBlock, MailContent, MailLink } from '../../messaging/mails/compose-mail.ts';
import { readMailIssuer } from '../../messaging/mails/mail-issuer.ts';
import { button } from '../../messaging/mails/mail-page.ts';
import { mailTextsOf } from '../../messaging/mails/texts/by-locale.ts';
import { type About, type FindNotice, factsBlock, type Notice } from './notice.ts';

/** An endpoint that was taken out of service, and is still. Rule: mails.md#mails-to-people. */
export const findEndpointNotice: FindNotice = async (ctx, id) => {
  const { db, organizationId } = ctx;
  const [endpoint] = isUuid(id)
    ? await db<{ webhook_url: string; disabled_reason: string }[]>`
        select webhook_url, disabled_reason from webhook_endpoints
        where organization_id = ${organizationId} and id = ${id} and status = 'disabled'`
    : [];
  if (!endpoint) return undefined;
  return noticeTo(ctx, 'WebhookEndpoint', (about, links) =>
    endpointContent(about, { url: endpoint.webhook_url, reason: endpoint.disabled_reason, link: links.webhooks }),
  );
};

/** A key that was made, also where it was deleted at once. Rule: mails.md#mails-to-people. */
export const findKeyNotice: FindNotice = async (ctx, id) => {
  const { db, organizationId } = ctx;
  const [key] = isUuid(id)
    ? await db<{ name: string | null; last_four: string; created_at: Temporal.Instant }[]>`
        select name, last_four, created_at from api_keys where organization_id = ${organizationId} and id = ${id}`
    : [];
  if (!key) return undefined;
  return noticeTo(ctx, 'ApiKey', (about, links) =>
    keyContent(about, {
      name: key.name ?? '',
      lastFour: key.last_four,
      day: key.created_at.toZonedDateTimeISO(about.issuer.timezone).toPlainDate(),
      link: links.keys,
    }),
  );
};

/** Addresses of rooms of the console; undefined where there is none. */
type Rooms = Record<'webhooks' | 'keys', string | undefined>;

/** A mail to the address of the organization, in the language and the name of its default billing entity. */
async function noticeTo(
  ctx: Context,
  resourceType: string,
  content: (about: About, rooms: Rooms) => MailContent,
): Promise<Notice> {
  const { db, organizationId, config } = ctx;
  const [organization] = await db<{ name: string; slug: string; email: string | null }[]>`
    select name, slug, email from organizations where id = ${organizationId}`;
  const { name, slug, email } = organization!;
  const entity = await getDefaultBillingEntity(ctx);
  const roomOf = (room: keyof Rooms) =>
    config.CONSOLE ? `${publicUrl(config)}/console/o/${encodeURIComponent(slug)}/${room}` : undefined;
  return {
    billingEntityId: entity.id,
    to: mailAddressesOf({ email }),
    resourceType,
    async content() {
      const issuer = await readMailIssuer(ctx, entity.id);
      const { locale } = languageOf(null, issuer.document_locale);
      const about = { locale, issuer, customer: { id: null, name } };
      return content(about, { webhooks: roomOf('webhooks'), keys: roomOf('keys') });
    },
  };
}

/** What was done to which endpoint or key, and the room of the console where it stands. */
function contentOf(
  about: About,
  template: 'endpoint_disabled' | 'key_created',
  {
    address,
    label,
    rows,
  }: { address: string | undefined; label: string; rows: readonly (readonly [string, string])[] },
): MailContent {
  const link: MailLink | undefined = address === undefined ? undefined : { mark: address, label };
  const room: MailBlock[] =
    link === undefined ? [] : [{ text: `${label}:\n${address}`, html: [button(link.mark, label)] }];
  return {
    ...about,
    template,
    values: {},
    ...(link && { link }),
    headline: null,
    blocks: [factsBlock(rows, { isFirst: true }), ...room],
  };
}

export function endpointContent(
  about: About,
  { url, reason, link }: { url: string; reason: string; link: string | undefined },
): MailContent {
  const words = mailTextsOf(about.locale).notices;
  const why = reason === 'gone' || reason === 'failing' ? words.reasons[reason] : reason;
  return contentOf(about, 'endpoint_disabled', {
    address: link,
    label: words.openWebhooks,
    rows: [
      [words.endpoint, url],
      [words.reason, why],
    ],
  });
}

export function keyContent(
  about: About,
  { name, lastFour, day, link }: { name: string; lastFour: string; day: Temporal.PlainDate; link: string | undefined },
): MailContent {
  const words = mailTextsOf(about.locale).notices;
  return contentOf(about, 'key_created', {
    address: link,
    label: words.openKeys,
    rows: [
      ...(name === '' ? [] : [[words.name, name] as const]),
      [words.lastFour, `…${lastFour}`],
      [words.createdOn, formatOf(about.locale, 'USD', about.issuer.timezone).date(day)],
    ],
  });
}
