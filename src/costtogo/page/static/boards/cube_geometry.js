// Where the stickers of a cube are, what a turn moves, and how a point in space comes to lie on the screen.

export const FACES = "LUFDRB"; // the order of faces and colours in a state
export const OPPOSITE = { L: "R", U: "D", F: "B", R: "L", D: "U", B: "F" };

// Outward normal, direction of growing columns and of growing rows (x right, y up, z to the viewer).
const AXES = {
  L: [
    [-1, 0, 0],
    [0, 0, 1],
    [0, -1, 0],
  ],
  U: [
    [0, 1, 0],
    [1, 0, 0],
    [0, 0, 1],
  ],
  F: [
    [0, 0, 1],
    [1, 0, 0],
    [0, -1, 0],
  ],
  D: [
    [0, -1, 0],
    [1, 0, 0],
    [0, 0, -1],
  ],
  R: [
    [1, 0, 0],
    [0, 0, -1],
    [0, -1, 0],
  ],
  B: [
    [0, 0, -1],
    [-1, 0, 0],
    [0, -1, 0],
  ],
};
const EYE = 7; // distance of the eye from the centre of a cube whose edges are 2 long

export const normalOf = (face) => AXES[face][0];
export const add = (a, b, scale = 1) => a.map((value, axis) => value + scale * b[axis]);
export const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];

/** Every sticker of a size × size × size cube of edge 2, in a state's order: {face, centre, corners}. */
export function stickers(size) {
  const list = [];
  for (const face of FACES) {
    const [normal, columns, rows] = AXES[face];
    for (let cell = 0; cell < size * size; cell += 1) {
      const across = (2 * (cell % size) + 1 - size) / size;
      const down = (2 * Math.floor(cell / size) + 1 - size) / size;
      const centre = add(add(normal, columns, across), rows, down);
      list.push({ face, centre, corners: square(centre, columns, rows, 0.77 / size) });
    }
  }
  return list;
}

/** The faces of a block, the part of the cube between two heights along a face's normal: {normal, centre, corners}. */
export function blockFaces(face, from, to) {
  const normal = normalOf(face);
  const axis = normal.findIndex((value) => value !== 0);
  const inBlock = (point) =>
    point.map((value, i) => (i === axis ? normal[axis] * (dot(point, normal) > 0 ? to : from) : value));
  return Array.from(FACES, (side) => {
    const [outward, columns, rows] = AXES[side];
    const corners = square(outward, columns, rows, 1).map(inBlock);
    return { normal: outward, centre: inBlockCentre(corners), corners };
  });
}

/** A point turned about a unit axis by an angle in radians, counter-clockwise as the axis points to the viewer. */
export function turned(point, axis, angle) {
  const along = add([0, 0, 0], axis, dot(axis, point) * (1 - Math.cos(angle)));
  return add(add(along, point, Math.cos(angle)), cross(axis, point), Math.sin(angle));
}

/** A camera that has gone around the cube: yaw to the right, pitch upwards, in radians. */
export class Camera {
  constructor(yaw, pitch) {
    this.yaw = yaw;
    this.pitch = pitch;
  }

  /** A point or direction as the camera has it: x right, y up, z towards the eye. */
  #seen([x, y, z]) {
    const [sinYaw, cosYaw] = [Math.sin(this.yaw), Math.cos(this.yaw)];
    const [sinPitch, cosPitch] = [Math.sin(this.pitch), Math.cos(this.pitch)];
    const [right, near] = [x * cosYaw - z * sinYaw, x * sinYaw + z * cosYaw];
    return [right, y * cosPitch - near * sinPitch, y * sinPitch + near * cosPitch];
  }

  /** Screen coordinates, x right and y down, of a point. */
  project(point) {
    const [x, y, z] = this.#seen(point);
    const scale = EYE / (EYE - z);
    return [x * scale, -y * scale];
  }

  /** Whether a flat part of the surface turns its outer side to the eye. */
  faces(normal, centre) {
    const eye = [0, 0, EYE];
    return dot(this.#seen(normal), add(eye, this.#seen(centre), -1)) > 0;
  }

  /** How far the eye is along an axis of the cube. */
  height(axis) {
    return EYE * this.#seen(axis)[2];
  }
}

function square(centre, columns, rows, half) {
  const corner = (across, down) => add(add(centre, columns, across * half), rows, down * half);
  return [corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1)];
}

function inBlockCentre(corners) {
  const sum = corners.reduce((total, corner) => add(total, corner), [0, 0, 0]);
  return sum.map((value) => value / corners.length);
}
