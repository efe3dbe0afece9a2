// The GraphQL documents that the JavaScript examples share, in the order of the journey.

export const createThing = /* GraphQL */ `
  mutation CreateThing($name: String!) {
    createThing(input: { name: $name, license: CC, category: "Tools", description: "Made by an example." }) {
      thing { id state }
    }
  }`;

// Upload in one multipart request, for clients that support it.
export const uploadFile = /* GraphQL */ `
  mutation UploadFile($file: Upload!) {
    uploadFile(input: { file: $file }) { file { id name state size } }
  }`;

// Upload by a signed form, for clients that send no multipart requests.
export const stageUpload = /* GraphQL */ `
  mutation StageUpload($name: String!, $thing: ID!) {
    stageUpload(input: { name: $name, target: { type: THING, id: $thing } }) {
      upload { fileId formAction formFields { name value } }
    }
  }`;

export const finalizeFiles = /* GraphQL */ `
  mutation FinalizeFiles($file: ID!, $thing: ID!) {
    finalizeFiles(input: { files: [{ id: $file }], target: { type: THING, id: $thing } }) {
      files { id state }
    }
  }`;

// Yields the state of the preview at once, then each change, and completes when the work ends.
export const fileProcessing = /* GraphQL */ `
  subscription FileProcessing($file: ID!) {
    fileProcessing(id: $file) { state stage progress error }
  }`;

export const publishThing = /* GraphQL */ `
  mutation PublishThing($thing: ID!) {
    publishThing(input: { id: $thing }) { thing { id state } }
  }`;

export const listThings = /* GraphQL */ `
  query ListThings {
    things(first: 5, sort: NEWEST) { nodes { id name creator { username } } }
  }`;

export const recordDownload = /* GraphQL */ `
  mutation RecordDownload($file: ID!) {
    recordDownload(input: { fileId: $file }) { url }
  }`;
