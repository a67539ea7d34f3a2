export const typed = { delete: 'delete', void: 'void' };
