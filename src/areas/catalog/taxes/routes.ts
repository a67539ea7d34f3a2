import { crud } from '../../../platform/crud.ts';
import { createTax, deleteTax, updateTax } from './commands.ts';
import { listTaxes, showTax } from './reads.ts';
import { TaxCreate, TaxUpdate } from './schema.ts';
import { TaxView } from './view.ts';

export const taxOperations = crud('tax', {
  plural: 'taxes',
  words: { one: 'a tax', listed: 'all taxes' },
  schemas: { create: TaxCreate, update: TaxUpdate, view: TaxView },
  run: { create: createTax, list: listTaxes, show: showTax, update: updateTax, destroy: deleteTax },
});
