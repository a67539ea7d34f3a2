import { crud } from '../../../platform/crud.ts';
import { createSection, deleteSection, updateSection } from './commands.ts';
import { listSections, showSection } from './reads.ts';
import { SectionCreate, SectionsQuery, SectionUpdate, SectionView } from './schema.ts';

export const invoiceCustomSectionOperations = crud('invoice_custom_section', {
  words: { one: 'a custom section', listed: 'custom sections' },
  schemas: { create: SectionCreate, update: SectionUpdate, view: SectionView, query: SectionsQuery },
  run: { create: createSection, list: listSections, show: showSection, update: updateSection, destroy: deleteSection },
});
