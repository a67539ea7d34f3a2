import { Temporal } from 'temporal-polyfill';
import { viewOf } from '../../../platform/schema/columns.ts';
import { seconds } from '../../../platform/schema/view.ts';
import { type SectionRow, type SelectedSectionJson, sectionOfJson, sections } from './queries.ts';
import type { AppliedSectionView, SelectedSectionView } from './schema.ts';
import type { AppliedSectionJson } from './sections-of-invoice.ts';

/** A section as the API shows it. */
export const sectionView = (section: SectionRow) => viewOf(sections, section);

/** A selection of a section. */
export const selectedSectionView = (json: SelectedSectionJson): SelectedSectionView => ({
  svc_id: json.selection_id,
  created_at: seconds(Temporal.Instant.from(json.selected_at)),
  invoice_custom_section_id: json.id,
  invoice_custom_section: sectionView(sectionOfJson(json)),
});

/** A section as an invoice keeps it; the printed name falls back to the name. */
export const appliedSectionView = (section: AppliedSectionJson): AppliedSectionView => ({
  svc_id: section.id,
  svc_invoice_id: section.invoice_id,
  code: section.code,
  details: section.details ?? '',
  display_name: section.display_name ?? section.name,
  created_at: seconds(Temporal.Instant.from(section.created_at)),
});
