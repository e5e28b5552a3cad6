// Arrays of memory that is not shared. Since TypeScript 5.7 typed arrays have a type parameter for that, and these
// types set it. Older versions see the plain array types.

/** `Uint8Array<ArrayBuffer>` */
export type Bytes = InstanceType<Uint8ArrayConstructor>

/** `Float32Array<ArrayBuffer>` */
export type Floats = InstanceType<Float32ArrayConstructor>
