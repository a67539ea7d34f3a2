import { z } from 'zod';
import { named } from '../../../platform/schema/bounded.ts';
import { boolean, INVALID, integer } from '../../../platform/schema/fields.ts';
import { renameErrors } from '../../../platform/schema/flat-errors.ts';
import { findTemplate, TEMPLATE_NAMES } from '../../messaging/mails/templates.ts';

/** More names than this are no names of templates. */
const TEMPLATES_MAX = 50;

const TRIAL_DAYS_MAX = 30;

/** Input of `PUT /billing_entities/{code}/mail_settings`: a template that is absent stays. Rule: mails.md#settings. */
export const MailSettingsUpdate = z.object({
  templates: named(boolean(), { max: TEMPLATES_MAX })
    .check(renameErrors(() => []))
    .refine((templates) => Object.keys(templates).every((name) => findTemplate(name) !== undefined), INVALID)
    .optional(),
  trial_days: integer({ min: 1, max: TRIAL_DAYS_MAX }).optional(),
});
export type MailSettingsUpdate = z.output<typeof MailSettingsUpdate>;

export const MailSettingsEnvelope = z.object({
  mail_settings: z.object({ templates: z.record(z.enum(TEMPLATE_NAMES), z.boolean()), trial_days: z.int() }),
});
