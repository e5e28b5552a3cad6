// The pictures of the viewer that pages show, by the names of their files: scripts/docs/pictures.ts takes them.

export const kPictureSize = { width: 1280, height: 800 }

export const kPictures = {
  viewer: 'The viewer: the overview of a model file, with its size by type and by block',
  lens: 'The lens: a picture of all values of a matrix, with their statistics',
  graph: 'The graph: the flow of data through the blocks of a model',
  hub: 'A repository of a hub: eight quantizations, one of them recommended for this computer',
  run: 'A conversation with the sample model, which runs in the page',
} as const

export type PictureName = keyof typeof kPictures
