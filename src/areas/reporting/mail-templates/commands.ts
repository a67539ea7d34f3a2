import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { refuse } from '../../../platform/refusal.ts';
import { refuseFaults } from '../../../platform/schema/faults.ts';
import { settingsActivity } from '../../customers/billing-entities/announce.ts';
import {
  type BillingEntityRow,
  getBillingEntity,
  getDefaultBillingEntity,
  lockBillingEntity,
} from '../../customers/billing-entities/queries.ts';
import { DOCUMENT_LOCALES, type DocumentLocale } from '../../messaging/documents/texts/by-locale.ts';
import type { OwnWords } from '../../messaging/mails/compose-mail.ts';
import { findTemplate, TEMPLATE_NAMES, type TemplateName, templateOf } from '../../messaging/mails/templates.ts';
import { mailTextsOf } from '../../messaging/mails/texts/by-locale.ts';
import type { MailTemplatesQuery, MailTemplateUpdate, MailTemplateView } from './schema.ts';

interface Named {
  name: string;
  locale: string;
  query: MailTemplatesQuery;
}

interface OverrideRow extends OwnWords {
  template: TemplateName;
  locale: DocumentLocale;
}

const NONE: OwnWords = { subject: null, intro: null, closing: null };

/** The words of every template in every language. @throws Refusal 404 billing_entity */
export async function listMailTemplates(ctx: Context, { query }: { query: MailTemplatesQuery }) {
  const rows = await listOverrides(ctx, await entityOf(ctx, query.billing_entity_code));
  const own = new Map(rows.map(({ template, locale, ...words }) => [`${template} ${locale}`, words]));
  const mail_templates = TEMPLATE_NAMES.flatMap((name) =>
    DOCUMENT_LOCALES.map((locale) => viewOf(name, locale, own.get(`${name} ${locale}`))),
  );
  return { mail_templates };
}

/** @throws Refusal 404 mail_template, billing_entity */
export async function showMailTemplate(ctx: Context, { name, locale, query }: Named) {
  const [template, language] = [templateNamed(name), languageNamed(locale)];
  const entity = await entityOf(ctx, query.billing_entity_code);
  return { mail_template: viewOf(template, language, await findOverride(ctx, entity, template, language)) };
}

/**
 * Says something in a seller's own words; what is absent stays, null goes back to the built-in words.
 *
 * @throws Refusal 404 mail_template, billing_entity; 422 `<field>: unknown_placeholder`
 * Rule: mails.md#texts-of-a-seller.
 */
export async function updateMailTemplate(
  ctx: Context,
  { name, locale, query, body }: Named & { body: MailTemplateUpdate },
) {
  const [template, language] = [templateNamed(name), languageNamed(locale)];
  const entity = await lockedEntity(ctx, query.billing_entity_code);
  refuseUnknownPlaceholders(template, body);
  const stored = (await findOverride(ctx, entity, template, language)) ?? NONE;
  const words = wordsFrom(stored, body);
  await ctx.db`
    insert into mail_overrides (organization_id, billing_entity_id, template, locale, subject, intro, closing,
      updated_at)
    values (${ctx.organizationId}, ${entity.id}, ${template}, ${language}, ${words.subject}, ${words.intro},
      ${words.closing}, ${ctx.now()})
    on conflict (organization_id, billing_entity_id, template, locale) do update set
      subject = excluded.subject, intro = excluded.intro, closing = excluded.closing, updated_at = excluded.updated_at`;
  const view = viewOf(template, language, words);
  record(ctx, entity, viewOf(template, language, stored), view);
  return { mail_template: view };
}

/** @throws Refusal 404 mail_template, billing_entity */
export async function resetMailTemplate(ctx: Context, { name, locale, query }: Named) {
  const [template, language] = [templateNamed(name), languageNamed(locale)];
  const entity = await lockedEntity(ctx, query.billing_entity_code);
  const stored = await findOverride(ctx, entity, template, language);
  await ctx.db`
    delete from mail_overrides
    where organization_id = ${ctx.organizationId} and billing_entity_id = ${entity.id} and template = ${template}
      and locale = ${language}`;
  const view = viewOf(template, language, undefined);
  if (stored) record(ctx, entity, viewOf(template, language, stored), view);
  return { mail_template: view };
}

/** Words with those that were sent: a text that is blank is none. */
export const wordsFrom = (stored: OwnWords, sent: MailTemplateUpdate): OwnWords => ({
  subject: chosen(stored.subject, sent.subject),
  intro: chosen(stored.intro, sent.intro),
  closing: chosen(stored.closing, sent.closing),
});

const chosen = (stored: string | null, sent: string | null | undefined): string | null =>
  sent === undefined ? stored : sent?.trim() ? sent : null;

/** @throws Refusal 422 `<field>: unknown_placeholder` */
export function refuseUnknownPlaceholders(template: TemplateName, sent: MailTemplateUpdate): void {
  const known = new Set<string>(templateOf(template).placeholders);
  const isUnknown = (text: string | null | undefined): boolean =>
    [...(text ?? '').matchAll(/\{(\w+)\}/g)].some(([, name]) => !known.has(name!));
  refuseFaults(
    Object.fromEntries(
      (['subject', 'intro', 'closing'] as const).flatMap((field) =>
        isUnknown(sent[field]) ? [[field, ['unknown_placeholder']]] : [],
      ),
    ),
  );
}

/** @throws Refusal 404 mail_template */
export function templateNamed(name: string): TemplateName {
  if (findTemplate(name) === undefined) throw refuse.notFound('mail_template');
  return name as TemplateName;
}

function languageNamed(locale: string): DocumentLocale {
  const found = DOCUMENT_LOCALES.find((each) => each === locale);
  if (found === undefined) throw refuse.notFound('mail_template');
  return found;
}

/** @throws Refusal 404 billing_entity */
export const entityOf = (scope: Scope, code: string | null | undefined): Promise<BillingEntityRow> =>
  code == null ? getDefaultBillingEntity(scope) : getBillingEntity(scope, code);

const lockedEntity = async (scope: Scope, code: string | undefined): Promise<BillingEntityRow> =>
  lockBillingEntity(scope, (await entityOf(scope, code)).code);

const listOverrides = ({ db, organizationId }: Scope, { id }: BillingEntityRow) => db<OverrideRow[]>`
  select template, locale, subject, intro, closing from mail_overrides
  where organization_id = ${organizationId} and billing_entity_id = ${id}`;

export async function findOverride(
  { db, organizationId }: Scope,
  { id }: Pick<BillingEntityRow, 'id'>,
  template: TemplateName,
  locale: DocumentLocale,
): Promise<OwnWords | undefined> {
  const [row] = await db<OwnWords[]>`
    select subject, intro, closing from mail_overrides
    where organization_id = ${organizationId} and billing_entity_id = ${id} and template = ${template}
      and locale = ${locale}`;
  return row;
}

const viewOf = (name: TemplateName, locale: DocumentLocale, own: OwnWords | undefined): MailTemplateView => ({
  name,
  locale,
  placeholders: [...templateOf(name).placeholders],
  built_in: mailTextsOf(locale).words[name],
  overridden: own === undefined || Object.values(own).every((text) => text === null) ? null : own,
});

const record = (ctx: Context, entity: BillingEntityRow, before: MailTemplateView, after: MailTemplateView): void =>
  ctx.record({ activity: settingsActivity(entity, { mail_template: before }, { mail_template: after }) });
