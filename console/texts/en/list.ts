export const list = {
  nothingLikeThat: 'Nothing is like that',
  page: (page: string) => `Page ${page}`,
  remove: 'Remove this filter',
  all: 'All',
};
