export const page = {
  copyForCustomer: 'Copy for the customer',
  facts: 'Facts',
  made: 'Made',
  id: 'Id',
  do: 'Do',
  edit: 'Edit',
  save: 'Save',
  delete: 'Delete',
  more: 'More …',
};
