import { z } from 'zod';
import { textFilter } from '../../../platform/lists/filters.ts';
import { pageQuery } from '../../../platform/lists/pagination.ts';
import { viewSchema } from '../../../platform/schema/columns.ts';
import { boolean, cleanText, INVALID, text } from '../../../platform/schema/fields.ts';
import { PROSE_MAX } from '../../../platform/schema/sizes.ts';
import { textList } from '../../../platform/schema/typed-text.ts';
import { sections } from './queries.ts';

/** Longest code: an index of the database holds it. */
const CODE_MAX = 255;

const fields = {
  name: text(),
  description: cleanText({ max: PROSE_MAX }),
  details: cleanText({ max: PROSE_MAX }),
  display_name: cleanText(),
};

/** Input of `POST /invoice_custom_sections`. Rule: other-routes.md#records. */
export const SectionCreate = z.object({ code: text({ max: CODE_MAX }), ...fields });
export type SectionCreate = z.infer<typeof SectionCreate>;

/** Input of `PUT /invoice_custom_sections/{code}`: what is absent stays. */
export const SectionUpdate = z.object({ code: text({ max: CODE_MAX }), ...fields }).partial();
export type SectionUpdate = z.infer<typeof SectionUpdate>;

/**
 * The choice of sections of a subscription, a one-off invoice or a wallet. Rule: subscriptions.md#fields,
 * invoices.md#custom-sections.
 */
export const SectionChoice = z
  .object({ skip_invoice_custom_sections: boolean().nullish(), invoice_custom_section_codes: textList() }, INVALID)
  .nullish();
export type SectionChoice = z.infer<typeof SectionChoice>;

export const SectionView = viewSchema(sections);

/** A selection of a section, as subscriptions and wallets show theirs. */
export const SelectedSectionView = z.object({
  svc_id: z.uuid(),
  created_at: z.iso.datetime(),
  invoice_custom_section_id: z.uuid(),
  invoice_custom_section: SectionView,
});
export type SelectedSectionView = z.infer<typeof SelectedSectionView>;

/** A section as an invoice keeps it. */
export const AppliedSectionView = z.object({
  svc_id: z.uuid(),
  svc_invoice_id: z.uuid(),
  code: z.string(),
  details: z.string(),
  display_name: z.string(),
  created_at: z.iso.datetime(),
});
export type AppliedSectionView = z.infer<typeof AppliedSectionView>;

export const SectionsQuery = z.object({ search_term: textFilter, ...pageQuery });
export type SectionsQuery = z.infer<typeof SectionsQuery>;
