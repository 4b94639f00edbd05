import BatchThreads
import GRDBSQLite
import Glibc

/// SQLite's way to the files of every ``LossyDisk``: a virtual file system before the system's own, which all other files go straight to.
enum DiskLayer {
  private struct Known {
    weak var disk: LossyDisk?
  }

  private static let disks = Guarded<[String: Known]>([:])

  static func add(_ disk: LossyDisk) {
    precondition(isInstalled, "SQLite takes no file system")
    disks.withLock { disks in
      disks = disks.filter { $0.value.disk != nil }
      disks[disk.folder] = Known(disk: disk)
    }
  }

  private static func disk(of path: String) -> LossyDisk? {
    guard let slash = path.lastIndex(of: "/") else { return nil }
    return disks.withLock { $0[String(path[..<slash])]?.disk }
  }

  // MARK: The file system

  /// The system's; it is there as long as the process.
  nonisolated(unsafe) private static let system: UnsafeMutablePointer<sqlite3_vfs>? = sqlite3_vfs_find(nil)

  /// Registered once, as the one that is taken where none is named.
  private static let isInstalled: Bool = {
    guard let system else { return false }
    let layer = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    layer.initialize(to: system.pointee)
    layer.pointee.pNext = nil
    layer.pointee.zName = UnsafePointer(strdup("lossy"))
    layer.pointee.szOsFile = Int32(LayeredFile.headSize) + system.pointee.szOsFile
    layer.pointee.xOpen = { _, name, file, flags, granted in DiskLayer.open(name, file, flags, granted) }
    layer.pointee.xDelete = { _, name, syncsFolder in DiskLayer.remove(name, syncsFolder) }
    return sqlite3_vfs_register(layer, 1) == SQLITE_OK
  }()

  private static func open(
    _ name: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32,
    _ granted: UnsafeMutablePointer<Int32>?
  ) -> Int32 {
    guard let system, let file, let open = system.pointee.xOpen else { return SQLITE_ERROR }
    guard let name, let disk = disk(of: String(cString: name)) else { return open(system, name, file, flags, granted) }
    let path = String(cString: name)
    disk.opened(path)
    file.pointee.pMethods = nil
    let code = open(system, name, LayeredFile.real(file), flags, granted)
    if code == SQLITE_OK { LayeredFile.begin(file, LayeredFile(disk: disk, path: path)) }
    return code
  }

  private static func remove(_ name: UnsafePointer<CChar>?, _ syncsFolder: Int32) -> Int32 {
    guard let system, let remove = system.pointee.xDelete else { return SQLITE_ERROR }
    if let name { disk(of: String(cString: name))?.removed(String(cString: name)) }
    return remove(system, name, syncsFolder)
  }
}

/// An open file of a ``LossyDisk``. In SQLite's memory a head stands before the system's own file.
private final class LayeredFile {
  private struct Head {
    var file: sqlite3_file
    var layered: UnsafeMutableRawPointer
  }

  static let headSize = MemoryLayout<Head>.stride

  let disk: LossyDisk
  let path: String

  init(disk: LossyDisk, path: String) {
    self.disk = disk
    self.path = path
  }

  typealias File = UnsafeMutablePointer<sqlite3_file>

  /// The system's file behind the head.
  static func real(_ file: File) -> File {
    (UnsafeMutableRawPointer(file) + headSize).assumingMemoryBound(to: sqlite3_file.self)
  }

  static func begin(_ file: File, _ layered: LayeredFile) {
    UnsafeMutableRawPointer(file).assumingMemoryBound(to: Head.self).initialize(
      to: Head(file: sqlite3_file(pMethods: methods), layered: Unmanaged.passRetained(layered).toOpaque()))
  }

  private static func of(_ file: File) -> Unmanaged<LayeredFile> {
    Unmanaged.fromOpaque(UnsafeMutableRawPointer(file).assumingMemoryBound(to: Head.self).pointee.layered)
  }

  /// Hands a call on to the system's file.
  private static func pass(
    _ file: File?, _ call: (sqlite3_io_methods, File) -> Int32?
  ) -> Int32 {
    guard let file, let methods = real(file).pointee.pMethods else { return SQLITE_IOERR }
    return call(methods.pointee, real(file)) ?? SQLITE_IOERR
  }

  /// As ``pass(_:_:)``, while there is power and room.
  private static func change(
    _ file: File?, _ note: (LayeredFile) -> LossyDisk.Answer, _ call: (sqlite3_io_methods, File) -> Int32?
  ) -> Int32 {
    guard let file else { return SQLITE_IOERR }
    switch note(of(file).takeUnretainedValue()) {
    case .done: return pass(file, call)
    case .off: return SQLITE_IOERR
    case .full: return SQLITE_FULL
    }
  }

  /// Never changed, and there as long as the process.
  nonisolated(unsafe) private static let methods: UnsafePointer<sqlite3_io_methods> = {
    var methods = sqlite3_io_methods()
    // 3 would let SQLite map the file into memory.
    methods.iVersion = 2
    methods.xClose = { file in
      let code = pass(file) { $0.xClose?($1) }
      if let file { of(file).release() }
      return code
    }
    methods.xRead = { file, buffer, count, offset in pass(file) { $0.xRead?($1, buffer, count, offset) } }
    methods.xWrite = { file, bytes, count, offset in
      change(file) { file in
        let bytes = Array(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
        return file.disk.take(.bytes(bytes, at: Int(offset)), to: file.path)
      } _: {
        $0.xWrite?($1, bytes, count, offset)
      }
    }
    methods.xTruncate = { file, size in
      change(file) {
        $0.disk.take(.size(Int(size)), to: $0.path)
      } _: {
        $0.xTruncate?($1, size)
      }
    }
    // The files themselves need no sync: what they are after a cut is known here.
    methods.xSync = { file, _ in
      change(file) {
        $0.disk.sync($0.path)
      } _: { _, _ in
        SQLITE_OK
      }
    }
    methods.xFileSize = { file, size in pass(file) { $0.xFileSize?($1, size) } }
    methods.xLock = { file, level in pass(file) { $0.xLock?($1, level) } }
    methods.xUnlock = { file, level in pass(file) { $0.xUnlock?($1, level) } }
    methods.xCheckReservedLock = { file, held in pass(file) { $0.xCheckReservedLock?($1, held) } }
    methods.xFileControl = { file, operation, argument in pass(file) { $0.xFileControl?($1, operation, argument) } }
    methods.xSectorSize = { file in pass(file) { $0.xSectorSize?($1) } }
    methods.xDeviceCharacteristics = { file in pass(file) { $0.xDeviceCharacteristics?($1) } }
    methods.xShmMap = { file, page, size, extends, memory in
      pass(file) { $0.xShmMap?($1, page, size, extends, memory) }
    }
    methods.xShmLock = { file, offset, count, flags in pass(file) { $0.xShmLock?($1, offset, count, flags) } }
    methods.xShmBarrier = { file in
      _ = pass(file) {
        $0.xShmBarrier?($1)
        return SQLITE_OK
      }
    }
    methods.xShmUnmap = { file, removes in pass(file) { $0.xShmUnmap?($1, removes) } }
    let place = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    place.initialize(to: methods)
    return UnsafePointer(place)
  }()
}
