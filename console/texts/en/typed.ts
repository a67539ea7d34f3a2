export const typed = { delete: 'delete', void: 'void', rotate: 'rotate' };
