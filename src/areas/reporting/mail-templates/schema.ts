import { z } from 'zod';
import { textFilter } from '../../../platform/lists/filters.ts';
import { optionalText, text } from '../../../platform/schema/fields.ts';
import { locale } from '../../../platform/schema/typed-text.ts';
import { TEMPLATE_NAMES } from '../../messaging/mails/templates.ts';

const SUBJECT_LETTERS = 150;
const TEXT_LETTERS = 2000;
/** RFC 5321: 64 letters, a sign, 255 letters. */
const ADDRESS_LETTERS = 320;
const ADDRESS_FORMAT = 'invalid_email_format';

const words = {
  subject: optionalText({ max: SUBJECT_LETTERS }),
  intro: optionalText({ max: TEXT_LETTERS }),
  closing: optionalText({ max: TEXT_LETTERS }),
};

/** Which issuer's words are meant; absent: those of the default billing entity. */
export const MailTemplatesQuery = z.object({ billing_entity_code: textFilter });
export type MailTemplatesQuery = z.output<typeof MailTemplatesQuery>;

/** Input of `PUT /mail_templates/{name}/{locale}`: what is absent stays, null goes back to the built-in words. */
export const MailTemplateUpdate = z.object(words);
export type MailTemplateUpdate = z.output<typeof MailTemplateUpdate>;

const preview = {
  ...words,
  locale: locale(),
  billing_entity_code: optionalText(),
  svc_resource_id: optionalText(),
};

/** Words that are tried; those that are absent are the stored ones. Rule: mails.md#preview-and-test. */
export const MailTemplatePreview = z.object(preview);
export type MailTemplatePreview = z.output<typeof MailTemplatePreview>;

export const MailTemplateTest = z.object({
  ...preview,
  to: text({ max: ADDRESS_LETTERS })
    .transform((address) => address.trim())
    .pipe(z.email(ADDRESS_FORMAT)),
});
export type MailTemplateTest = z.output<typeof MailTemplateTest>;

const BuiltIn = z.object({ subject: z.string(), intro: z.string(), closing: z.string() });
const TextOrNull = z.string().nullable();
const Own = z.object({ subject: TextOrNull, intro: TextOrNull, closing: TextOrNull });

const MailTemplateView = z.object({
  name: z.enum(TEMPLATE_NAMES),
  locale: z.string(),
  placeholders: z.array(z.string()),
  built_in: BuiltIn,
  overridden: Own.nullable(),
});
export type MailTemplateView = z.infer<typeof MailTemplateView>;

export const MailTemplateList = z.object({ mail_templates: z.array(MailTemplateView) });
export const MailTemplateEnvelope = z.object({ mail_template: MailTemplateView });
export const MailPreviewEnvelope = z.object({
  preview: z.object({ subject: z.string(), html: z.string(), text: z.string() }),
});
export type MailPreviewEnvelope = z.infer<typeof MailPreviewEnvelope>;
