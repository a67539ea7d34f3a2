import { crud } from '../../../platform/crud.ts';
import { createAddOn, deleteAddOn, updateAddOn } from './commands.ts';
import { listAddOns, showAddOn } from './reads.ts';
import { AddOnCreate, AddOnUpdate } from './schema.ts';
import { AddOnView } from './view.ts';

export const addOnOperations = crud('add_on', {
  words: { one: 'an add-on', listed: 'all add-ons' },
  schemas: { create: AddOnCreate, update: AddOnUpdate, view: AddOnView },
  run: { create: createAddOn, list: listAddOns, show: showAddOn, update: updateAddOn, destroy: deleteAddOn },
});
