import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { BillingEntityId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { TEMPLATE_NAMES, type TemplateName, templateOf } from '../../messaging/mails/templates.ts';
import { recordSettings } from '../billing-entities/announce.ts';
import { type BillingEntityRow, getBillingEntity, lockBillingEntity } from '../billing-entities/queries.ts';
import type { MailSettingsUpdate } from './schema.ts';

interface Stored {
  /** Only those that were set. */
  templates: Partial<Record<TemplateName, boolean>>;
  /** How long before its end a trial is mailed. */
  trial_days: number;
}

const NOTHING_SET: Stored = { templates: {}, trial_days: 3 };

/** @throws Refusal 404 billing_entity */
export async function showMailSettings(ctx: Context, { code }: { code: string }) {
  const entity = await getBillingEntity(ctx, code);
  return { mail_settings: settingsOf(entity, await readStored(ctx, entity.id)) };
}

/**
 * Chooses which mails an issuer's customers get; what is absent stays. The contract's three are chosen in
 * `email_settings` and shown here, as are those to people of the organization, which are always sent.
 *
 * @throws Refusal 404 billing_entity; 422 templates: value_is_frozen, of another value for one that is not chosen here
 * Rule: mails.md#settings.
 */
export async function updateMailSettings(ctx: Context, { code, body }: { code: string; body: MailSettingsUpdate }) {
  const entity = await lockBillingEntity(ctx, code);
  const stored = await readStored(ctx, entity.id);
  const before = settingsOf(entity, stored);
  const sent = Object.entries(body.templates ?? {}) as [TemplateName, boolean][];
  const ofContract = sent.filter(([name]) => templateOf(name).setting !== null);
  if (ofContract.some(([name, isOn]) => before.templates[name] !== isOn))
    throw refuse.invalid({ templates: ['value_is_frozen'] });
  const own = sent.filter(([name]) => templateOf(name).setting === null);
  const chosen: Stored = {
    templates: { ...stored.templates, ...Object.fromEntries(own) },
    trial_days: body.trial_days ?? stored.trial_days,
  };
  await ctx.db`
    insert into mail_settings (organization_id, billing_entity_id, templates, trial_days, updated_at)
    values (${ctx.organizationId}, ${entity.id}, ${json(chosen.templates)}::jsonb, ${chosen.trial_days}, ${ctx.now()})
    on conflict (organization_id, billing_entity_id) do update set
      templates = excluded.templates, trial_days = excluded.trial_days, updated_at = excluded.updated_at`;
  const after = settingsOf(entity, chosen);
  recordSettings(ctx, entity, { name: 'mail_settings', before, after });
  return { mail_settings: after };
}

async function readStored({ db, organizationId }: Scope, id: BillingEntityId): Promise<Stored> {
  const [row] = await db<Stored[]>`
    select templates, trial_days from mail_settings where organization_id = ${organizationId} and billing_entity_id = ${id}`;
  return row ?? NOTHING_SET;
}

const settingsOf = ({ email_settings: settings }: BillingEntityRow, { templates: chosen, trial_days }: Stored) => ({
  templates: Object.fromEntries(
    TEMPLATE_NAMES.map((name) => {
      const { setting, isOn } = templateOf(name);
      if (setting === null) return [name, chosen[name] ?? isOn];
      return [name, setting === 'always' || settings.includes(setting)];
    }),
  ) as Record<TemplateName, boolean>,
  trial_days,
});
